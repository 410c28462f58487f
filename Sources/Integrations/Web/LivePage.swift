/// The live page: one document with its style and its script, which asks for nothing from elsewhere. Its links are relative, so that a
/// proxy may show it below another path.
enum LivePage {
    /// The page as an answer. Style and script carry a number used once, which the policy names, so that nothing else runs.
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
        """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Beckon</title>
        <link rel="icon" href="data:,">
        <style nonce="\(nonce)">
        \(LivePageStyle.text)
        </style>
        </head>
        \(body)
        <script nonce="\(nonce)">
        \(LivePageScript.text)
        \(LivePageSound.text)
        </script>
        </html>

        """
    }

    private static let body = """
        <body>
        <header>
          <h1>Beckon<span id="machine"></span></h1>
          <p id="status" role="status"><span id="dot" aria-hidden="true"></span><span id="status-text">Connecting</span></p>
          <button id="mute" type="button" aria-pressed="false" hidden>Mute</button>
        </header>
        <main>
          <div class="column">
          <section id="sound" aria-labelledby="sound-title">
            <h2 id="sound-title">Sound</h2>
            <div class="level">
              <div id="level" class="meter" role="meter" aria-label="Level in dB below full scale" aria-valuemin="-70"
                aria-valuemax="0" aria-valuenow="-70"><i id="level-fill"></i><i id="level-peak"></i></div>
              <output id="level-text">–</output>
            </div>
            <div id="picture">
              <figure>
                <figcaption>Waveform <span id="scale"></span></figcaption>
                <canvas id="wave" role="img" aria-label="Waveform of the last ten seconds, scrolling"></canvas>
              </figure>
              <figure>
                <figcaption>Spectrogram (log-mel), low to high</figcaption>
                <canvas id="mel" role="img" aria-label="Log-mel spectrogram of the last ten seconds, scrolling"></canvas>
              </figure>
              <div class="axis" aria-hidden="true"><span>−10 s</span><span>−8</span><span>−6</span><span>−4</span><span>−2</span>
                <span>now</span></div>
            </div>
            <p id="no-picture" class="note">Waveform and spectrogram would let others understand what is said here. They are shown to
              those who have the <a href="#access">token</a>.</p>
          </section>
          <section id="words-section" aria-labelledby="words-title">
            <h2 id="words-title">Words</h2>
            <p class="note" id="words-note">The bar is the score, the mark the threshold that it must reach.</p>
            <div id="words"></div>
          </section>
          <section id="access" aria-labelledby="access-title">
            <h2 id="access-title">Changes</h2>
            <form id="unlock">
              <p class="note">To mute, to move thresholds and to see the sound, give the token. On this machine,
                <code>beckon web token</code> prints it.</p>
              <label for="token">Token</label>
              <div class="row"><input id="token" type="password" autocomplete="off" spellcheck="false" required>
                <button type="submit">Unlock</button></div>
            </form>
            <div id="unlocked" hidden>
              <p class="note">This browser has the token.</p>
              <button id="lock" type="button">Forget it</button>
            </div>
            <p id="message" role="alert"></p>
          </section>
          </div>
          <div class="column">
          <section id="heard-section" aria-labelledby="heard-title">
            <h2 id="heard-title">Heard</h2>
            <ol id="heard" aria-live="polite" aria-relevant="additions"></ol>
            <p id="heard-none" class="note">No word yet.</p>
          </section>
          <section id="misses-section" aria-labelledby="misses-title" hidden>
            <h2 id="misses-title">Near misses</h2>
            <p class="note">Words that nearly reached their threshold, and those found, with their sound.</p>
            <ol id="misses"></ol>
            <p class="note" id="misses-none">None yet.</p>
          </section>
          </div>
        </main>
        <footer><span id="about"></span> <a href="metrics">Metrics</a></footer>
        </body>
        """
}
