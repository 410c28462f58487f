import Core
import Corpus
private import Glibc
import JSON
import Spotting
private import System

/// `beckon classify --worker`: classifies the files of requests on standard input, for an engine that has many workers.
///
/// Each answer is written before the next request is read. An engine that waits for an answer gets it, or the end of the
/// process.
struct Worker {
    let classifier: FileClassifier
    /// Threads that may help with long files.
    let spare: SpareWorkers

    /// Audio of requests up to this size is kept in memory, else on disk.
    private static let largestInMemory = 16 << 20

    /// The audio of the request that is read.
    private struct Audio: ~Copyable {
        let name: String
        let file: UnnamedFile
        var error: SystemError?

        mutating func append(_ bytes: ArraySlice<UInt8>) {
            guard error == nil else { return }
            do throws(SystemError) {
                try file.append(Array(bytes))
            } catch {
                self.error = error
            }
        }
    }

    /// Runs until standard input ends. Returns the exit status: 1 if it ended within a request or could not be understood.
    func run() throws -> Int32 {
        var requests = WorkerRequests()
        var audio: Audio?
        var status: Int32 = 0
        func take(_ part: WorkerRequests.Part) {
            switch part {
            case .file(let name): answer(classifier.record(of: name, name: name, spare: spare))
            case .begin(let name, let bytes): audio = begin(name, bytes)
            case .bytes(let bytes): audio?.append(bytes)
            case .end: finish(audio.take())
            case .refusal(let name, let reason): answer(FileRecord(file: name ?? "", error: reason))
            case .breakdown(let reason):
                status = 1
                answer(FileRecord(file: "", error: "\(reason); the worker ends"))
            }
        }
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while !requests.isBroken, !Output.hasFailed {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Failure("cannot read standard input: \(SystemError.text(errno))") }
            if count == 0 {
                requests.finish(take)
                break
            }
            requests.take(buffer[..<count], take)
        }
        return status
    }

    private func begin(_ name: String, _ bytes: Int) -> Audio? {
        do throws(SystemError) {
            let folder = bytes > Self.largestInMemory ? UnnamedFile.usualFolder : nil
            return Audio(name: name, file: try UnnamedFile(in: folder))
        } catch {
            answer(FileRecord(file: name, error: "no room for its audio (\(error)); TMPDIR names a folder"))
            return nil
        }
    }

    private func finish(_ audio: consuming Audio?) {
        // Without it, the request was answered at its beginning.
        guard let audio else { return }
        if let error = audio.error {
            answer(FileRecord(file: audio.name, error: "no room for its audio (\(error)); TMPDIR names a folder"))
        } else {
            answer(classifier.record(of: audio.file.path, name: audio.name, spare: spare))
        }
    }

    private func answer(_ record: FileRecord) { Output.write(record.json.line) }
}
