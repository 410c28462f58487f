import Network
import Testing

@testable import MQTT

@Suite struct BrokerConnectionTests {
    @Test(arguments: [true, false]) func `what waits for a broker that does not read is bounded`(isRetained: Bool)
        throws
    {
        let broker = try ListeningSocket(.tcp(host: "127.0.0.1", port: 0))
        var settings = BrokerConnection.Settings()
        settings.host = "127.0.0.1"
        settings.port = Int(try #require(broker.address.port))
        settings.name = "beckon-test"
        let connection = try BrokerConnection(settings)
        let message = MQTTMessage("level", String(repeating: "1", count: 1000), isRetained: isRetained)
        var count = 0
        let error = #expect(throws: MQTTError.self) {
            while count <= 2 * BrokerConnection.mostUnfinished {
                try connection.publish(message)
                count += 1
            }
        }
        #expect(error?.description == "the broker takes no messages: 10000 wait for it")
        // Those in the system's buffers are done.
        #expect((10_000...20_000).contains(count))
    }
}
