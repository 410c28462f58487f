import Beckon
import CBeckon

/// Why a function of the interface fails: a code, and one line of text.
struct CallError: Error, CustomStringConvertible {
    let code: beckon_code
    let description: String

    /// A call that the header does not allow.
    init(_ description: String) {
        code = BECKON_ERROR_CALL
        self.description = description
    }

    init(_ error: SpotterError) {
        code =
            switch error {
            case .model: BECKON_ERROR_MODEL
            case .words: BECKON_ERROR_WORDS
            case .settings: BECKON_ERROR_SETTINGS
            case .audio: BECKON_ERROR_AUDIO
            default: BECKON_ERROR_CALL
            }
        description = error.description
    }
}

/// Runs the body of a function that can fail.
///
/// - Parameter error: filled if it fails, else set to `BECKON_OK` with an empty text; nil for a caller who does not ask.
/// - Returns: nil if it failed.
func attempt<Result>(
    _ error: UnsafeMutablePointer<beckon_error>?,
    _ body: () throws(CallError) -> Result
) -> Result? {
    do throws(CallError) {
        let result = try body()
        error?.fill(BECKON_OK, "")
        return result
    } catch let failure {
        error?.fill(failure.code, failure.description)
        return nil
    }
}

/// The same for a function that returns its code.
func status(_ error: UnsafeMutablePointer<beckon_error>?, _ body: () throws(CallError) -> Void) -> beckon_code {
    var code = BECKON_OK
    attempt(error) { () throws(CallError) in
        do throws(CallError) {
            try body()
        } catch {
            code = error.code
            throw error
        }
    }
    return code
}

extension UnsafeMutablePointer<beckon_error> {
    /// Writes an error, whose text is cut between characters where it is too long.
    fileprivate func fill(_ code: beckon_code, _ text: String) {
        pointee.code = code
        withUnsafeMutableBytes(of: &pointee.text) { place in
            var bytes = Array(text.utf8.prefix(place.count))
            if bytes.count == place.count {
                // The last byte is for the zero. A byte of the form 10xxxxxx goes on a character.
                while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            }
            place.copyBytes(from: bytes + [0])
        }
    }
}
