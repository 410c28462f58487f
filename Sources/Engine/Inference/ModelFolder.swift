private import Core
private import Glibc
private import System

/// Finds the model's folder.
public enum ModelFolder {
    /// The folder named by the user, else by `BECKON_MODEL`, else the `commands` model that came with the program.
    ///
    /// A name without a slash that is not a folder, such as `commands-small`, is one of the models that came with the program:
    /// beside an installed binary (`../share/beckon/models`), or up from a binary built in a checkout (`Models`).
    ///
    /// - Returns: nil where there is none; a path or name that the user gave is returned even if nothing is there.
    public static func find(_ named: String?) -> String? {
        var named = named
        if named == nil, let value = getenv("BECKON_MODEL"), value.pointee != 0 { named = String(cString: value) }
        guard let named else { return shipped("commands") }
        return named.contains("/") || isModel(named) ? named : shipped(named) ?? named
    }

    /// The names of the models that came with the program, sorted.
    public static var names: [String] {
        guard let folder = shipped("commands"), let slash = folder.lastIndex(of: "/") else { return [] }
        let parent = String(folder[..<slash])
        return namesInFolder(parent).filter { isModel("\(parent)/\($0)") }.sorted()
    }

    /// Why a folder that ``find(_:)`` returned cannot be a model, and what to do; nil if it may be one.
    public static func problem(_ folder: String) -> String? {
        guard !isModel(folder) else { return nil }
        let name = printable(folder)
        if let kind = try? FileStatus(path: folder) {
            if kind.isRegular { return "\(name) is a file; name the folder of the model, which holds model.json" }
            let known = names.isEmpty ? "" : ", or a model that came with the program: \(names.joined(separator: ", "))"
            return "\(name) is no model, as it holds no model.json; name the folder of one\(known)"
        }
        guard !folder.contains("/") else { return nil }
        let names = names
        guard !names.isEmpty else {
            return "there is no folder \(name) here, and no model came with the program; "
                + "name the folder of a model, as in ./\(name)"
        }
        let hint = nearestName(to: folder, of: names).map { "did you mean \($0)?" }
        return "no model \(name) came with the program; "
            + (hint ?? "there is \(names.joined(separator: ", ")); a folder needs a slash, as in ./\(name)")
    }

    /// The model of this name that came with the program.
    private static func shipped(_ name: String) -> String? { shipped(name) { isModel($0) } }

    /// The file or folder of this name in the folder of models that came with the program; nil if it is not there.
    package static func shippedFile(_ name: String) -> String? { shipped(name) { fileExists($0) } }

    /// The name of the speech embedding's file in that folder, for messages, and the file; nil if it is not there.
    package static let speechEmbedding = "speech-embedding/embedding_model.tflite"
    package static var shippedSpeechEmbedding: String? { shippedFile(speechEmbedding) }

    private static func shipped(_ name: String, _ isWanted: (String) -> Bool) -> String? {
        for var folder in [SharedLibrary.path, OwnEnvironment.program].compactMap(\.self) {
            for level in 0..<6 {
                guard let slash = folder.lastIndex(of: "/") else { break }
                folder = String(folder[..<slash])
                // Beside the library of a Python package, which is in a folder `lib`.
                let beside = level == 1 ? ["models/\(name)"] : []
                for place in beside + ["share/beckon/models/\(name)", "Models/\(name)"] {
                    let candidate = "\(folder)/\(place)"
                    if isWanted(candidate) { return candidate }
                }
            }
        }
        return nil
    }

    private static func isModel(_ folder: String) -> Bool { fileExists(folder + "/model.json") }
}
