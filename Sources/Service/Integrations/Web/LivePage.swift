/// The live page: one document with its style and its scripts, which asks for nothing from elsewhere. Its links are relative, so that a
/// proxy may show it below another path.
///
/// The files are in `Page`, where a browser shows them as they are; the package manager embeds them when it builds.
enum LivePage {
    /// The page as an answer. Style and scripts carry a number used once, which the policy names, so that nothing else runs.
    static var answer: WebAnswer {
        let nonce = WebToken.random(bytes: 16)
        return WebAnswer(200, "text/html; charset=utf-8", html(nonce: nonce))
            .adding("Content-Security-Policy", policy(nonce: nonce))
            .adding("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
    }

    static func policy(nonce: String) -> String {
        "default-src 'none'; script-src 'nonce-\(nonce)'; style-src 'nonce-\(nonce)'; connect-src 'self'; media-src blob:; "
            + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    }

    static func html(nonce: String) -> String {
        joined.replacing("NONCE", with: nonce)
    }

    /// The document, with the files that it names in their places.
    private static let joined: String = {
        let parts = [
            ("<link rel=\"stylesheet\" href=\"live-page.css\">", "style", PackageResources.live_page_css),
            ("<script src=\"live-page.js\"></script>", "script", PackageResources.live_page_js),
            ("<script src=\"live-page-sound.js\"></script>", "script", PackageResources.live_page_sound_js),
            ("<script src=\"live-page-pair.js\"></script>", "script", PackageResources.live_page_pair_js),
            ("<script src=\"live-page-teach.js\"></script>", "script", PackageResources.live_page_teach_js),
            ("<script src=\"live-page-type.js\"></script>", "script", PackageResources.live_page_type_js),
        ]
        return parts.reduce(text(PackageResources.live_page_html)) { page, part in
            page.replacing(part.0, with: "<\(part.1) nonce=\"NONCE\">\n\(text(part.2))</\(part.1)>")
        }
    }()

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
