import Foundation
import TestSupport
import Testing

/// What the service does for webhooks beside sending them.
struct WebhookServiceTests {
    private func live(_ hook: String, proxy: UInt16) throws -> LiveProgram {
        try LiveProgram(
            playing: "/usr/share/sounds/alsa/Front_Left.wav",
            configuration: "{ webhookHosts: ['hook.test'], words: { left: { actions: [{ webhook: '\(hook)' }] } } }",
            variables: ["http_proxy": "http://127.0.0.1:\(proxy)", "no_proxy": ""]
        )
    }

    @Test func `a proxy gets what goes to other machines`() throws {
        let proxy = try OneShotServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
        let live = try live("http://hook.test/x", proxy: proxy.port)
        #expect(live.waits { proxy.hasRequest })
        #expect(proxy.request().hasPrefix("POST http://hook.test/x HTTP/1.1\r\n"))
        #expect(live.endInTime().status == 0)
    }

    @Test func `a proxy gets nothing that goes to this machine`() throws {
        let server = try OneShotServer(answer: "HTTP/1.1 204 No Content\r\n\r\n")
        let closed = try OneShotServer(answer: nil)
        let live = try live("http://localhost:\(server.port)/x", proxy: closed.port)
        #expect(live.waits { server.hasRequest })
        #expect(server.request().hasPrefix("POST /x HTTP/1.1\r\n"))
        #expect(live.endInTime().status == 0)
    }

    @Test(arguments: [false, true])
    func `libcurl is loaded where there are webhooks, and only there`(_ hasWebhooks: Bool) throws {
        let action = hasWebhooks ? "webhook: 'http://127.0.0.1:1/'" : "print: '{word}'"
        let live = try LiveProgram(
            playing: "/usr/share/sounds/alsa/Front_Left.wav",
            configuration: "{ words: { left: { actions: [{ \(action) }] } } }"
        )
        func isLoaded(_ library: String = "/libcurl") throws -> Bool {
            let maps = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(live.identifier)/maps")).readToEnd()
            return String(decoding: maps ?? Data(), as: UTF8.self).contains(library)
        }
        if hasWebhooks {
            #expect(try live.waits { try isLoaded() })
        } else {
            #expect(live.waits { live.output.contains("left") })
            #expect(try isLoaded("/libasound") && !isLoaded())
        }
        #expect(live.endInTime().status == 0)
    }
}
