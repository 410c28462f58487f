import Testing

@testable import Web

/// The page's document and its policy.
struct LivePageTests {
    private let page = LivePage.html(nonce: "abc123")

    @Test func `style and script carry the number that the policy names, and nothing else runs`() throws {
        #expect(page.components("<script") == 6 && page.components("<script nonce=\"abc123\">") == 6)
        #expect(page.components("<style") == 2 && page.components("<style nonce=\"abc123\">") == 2)
        #expect(page.components("</script>") == 6 && page.components("</style>") == 2)
        // Every file that the document names is in it.
        #expect(page.components("<script src") == 1 && page.components("stylesheet") == 1)
        #expect(page.components("NONCE") == 1 && page.components("const drawLabels") == 2)
        // The policy forbids what stands in attributes.
        #expect(
            page.components(" style=") == 1 && page.components(" onclick=") == 1 && page.components("javascript:") == 1
        )
        let policy = LivePage.policy(nonce: "abc123")
        #expect(policy.hasPrefix("default-src 'none'; script-src 'nonce-abc123'; style-src 'nonce-abc123';"))
        #expect(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"))
    }

    @Test func `each answer has another number`() throws {
        let policies = (0..<3).map { _ in LivePage.answer.headers.first { $0.name == "Content-Security-Policy" }?.value
        }
        #expect(Set(policies).count == 3 && !policies.contains(nil))
        #expect(LivePage.answer.contentType == "text/html; charset=utf-8")
    }

    @Test func `only behind a proxy may the page stand in a frame, of the same origin`() throws {
        let framed = LivePage.answer.framed
        let policies = framed.headers.filter { $0.name == "Content-Security-Policy" }.map(\.value)
        #expect(policies.count == 1 && policies[0].contains("frame-ancestors 'self'"))
        #expect(framed.headers.contains(.init(name: "X-Frame-Options", value: "SAMEORIGIN")))
        #expect(
            WebAnswer.text(404, "none").framed.headers.contains {
                $0.value == "default-src 'none'; frame-ancestors 'self'"
            }
        )
        // Its own addresses are relative: a proxy shows it below another path.
        #expect(page.components("fetch(\"/") == 1 && page.components("href=\"/") == 1 && page.components("get(`/") == 1)
        #expect(page.components("? \"live\" : `live/${") == 2)
    }

    @Test func `it asks for nothing from elsewhere, and puts no text in as markup`() {
        for forbidden in ["http://", "https://", "//cdn", "innerHTML", "insertAdjacentHTML", "document.write", "eval("]
        {
            #expect(page.components(forbidden) == 1, "\(forbidden)")
        }
    }

    @Test func `what is operated has a name`() {
        for part in [
            "<html lang=\"en\">", "<title>Beckon</title>", "<label for=\"token\">", "role=\"status\"",
            "aria-live=\"polite\"",
            "aria-pressed=\"false\"", "aria-label=\"Waveform of the last ten seconds, scrolling\"",
        ] {
            #expect(page.contains(part), "\(part)")
        }
    }
}

extension String {
    /// The number of parts between occurrences of a text.
    fileprivate func components(_ text: String) -> Int {
        var (count, rest) = (1, self[...])
        while let range = rest.firstRange(of: text) {
            count += 1
            rest = rest[range.upperBound...]
        }
        return count
    }
}
