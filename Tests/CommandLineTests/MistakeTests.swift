import CSndFile
import Foundation
import TestSupport
import Testing

/// Mistakes of people who do not read manuals: each gives one line that says what to do, and a status that is not 0.
struct MistakeTests {
    private static let voice = Voices.path("Front_Left")

    /// A folder with `empty.wav`, `header.wav`, `film.mp4`, `notes.txt` and the folder `sounds`, in which nothing is heard.
    private static func folder() throws -> TestFolder {
        let folder = try TestFolder()
        try folder.write("empty.wav", bytes: [])
        try folder.write("header.wav", format: Int(SF_FORMAT_WAV | SF_FORMAT_PCM_16), [])
        try folder.write(
            "film.mp4",
            bytes: [0, 0, 0, 0x20] + Array("ftypisom".utf8) + [UInt8](repeating: 7, count: 500)
        )
        try folder.write("notes.txt", bytes: Array("milk\neggs\n".utf8))
        try folder.folder("sounds")
        return folder
    }

    static let table: [(arguments: [String], status: Int32, says: String)] = [
        (["yes"], 2, "yes is a word, not a command; beckon listen and beckon classify FILE find it"),
        ([""], 2, "unknown command ''"),
        ([voice], 2, "is a file, not a command; did you mean beckon classify \(voice)?"),
        (["listen", voice], 2, "listen takes no file name; did you mean --file \(voice)?"),
        (["listen", "--file", "sounds"], 1, "is a directory, not an audio file; name a file in it"),
        (["listen", "--file", "empty.wav"], 1, "is empty (0 bytes)"),
        (
            ["listen", "--file", "a.wav", "--file", "b.wav"], 2,
            "--file was given twice, as 'a.wav' and 'b.wav'; leave one out"
        ),
        (
            ["classify", "-", "--format", "csv", "--format", "json"], 2,
            "--format was given twice, as 'csv' and 'json'"
        ),
        (["classify", "-format", "csv", voice], 2, "unknown option -format; did you mean --format?"),
        (["classify", "--threshold", "80", voice], 2, "not '80'; did you mean 0.8?"),
        (["classify", "--threshold", "0,8", voice], 2, "not '0,8'; did you mean 0.8?"),
        (["classify", "--threshold", "75%", voice], 2, "not '75%'; did you mean 0.75?"),
        (["classify", "--word", "left=90", voice], 2, "did you mean left=0.9?"),
        (["classify", "--word", "left=Strict", voice], 2, "did you mean left=strict?"),
        (["classify", "--mode", "Command", voice], 2, "not 'Command'; did you mean command?"),
        (
            ["classify", "--word", "LEFT=0.5", voice], 78,
            "the model does not know the word 'LEFT'; did you mean 'left'?"
        ),
        (["classify", "--files-from", voice], 1, "has NUL bytes; did you mean beckon classify \(voice), or -0?"),
        (["enroll"], 2, "enroll needs the word to teach, such as: beckon enroll computer"),
        (["enroll", "--from", voice], 2, "enroll needs the word to teach"),
        (["enroll", voice], 2, "did you mean beckon enroll WORD --from \(voice)?"),
        (["enroll", "door", voice], 2, "recordings need --from before them: beckon enroll door --from \(voice)"),
        (["enroll", "hey", "house"], 2, "needs quotes: beckon enroll 'hey house'"),
        (
            ["enroll", "“hey", "house”", "--more"], 2,
            "a shell knows straight quotes only, not those of “hey house”; did you mean beckon enroll 'hey house'?"
        ),
        (["enroll", "‘computer’"], 2, "did you mean beckon enroll computer?"),
        (["classify", "--words", "“yes”", voice], 78, "does not know the word '“yes”'; did you mean 'yes'?"),
        (["set", "sensitivity", "“strict”"], 2, "unknown sensitivity '“strict”'; did you mean 'strict'?"),
        (["classify", "--word", "hey", "house=0.5", voice], 2, "several words need quotes: --word 'hey house=0.5'"),
        (["listen", "--phrase", "go", "left"], 2, "several words need quotes: --phrase 'go left'"),
        (
            ["classify", "--phrase", "left", voice], 2,
            "--phrase takes two words or more, such as \"go left\", not 'left'"
        ),
        (["enroll", "door", "-n", "four"], 2, "--takes takes a number from 1 to 20, not 'four'"),
        (
            ["forget", "left"], 1,
            "'left' is one of the model's words, which stay; words: { left: { enabled: false } }"
        ),
        (["words", "list"], 2, "unknown task words list; did you mean beckon words?"),
        (["words", "import", "notes.txt"], 1, "notes.txt: not a word store; name one that beckon wrote"),
        (["inspect", voice, "page.html"], 2, "page.html is no recording; did you mean --output page.html?"),
        (["inspect", "sounds"], 1, "no audio files"), (["inspect"], 2, "inspect needs a recording"),
        (["inspect", voice, voice, "-o", "-"], 2, "several pages do not fit standard output"),
        (["inspect", voice, voice, "-o", "notes.txt"], 1, "notes.txt: cannot create this folder: a file has its name"),
        (["classify", "--json", "--csv", voice], 2, "--json and --csv exclude each other; give one of them"),
        (["classify", "--json", "-f", "csv", voice], 2, "--json and --format csv exclude each other"),
        (["classify", "--channel", "1", "--echo-reference", "1", voice], 2, "choose other channels"),
        (
            ["classify", "--echo-reference", "1", voice], 1,
            "has one channel, so none of them is the reference of an echo"
        ),
        (["classify", "-f", "jsonl", voice], 2, "not 'jsonl'; did you mean json?"),
        (["classify", "-f", "TXT", voice], 2, "not 'TXT'; did you mean table?"),
        (["classify", "-o", "results", voice], 2, "--output needs a format: a name that ends in .csv or .json, or"),
        (["classify", "--csv", "-o", "empty.wav", voice], 2, "empty.wav would be a recording; name another file"),
        (
            ["classify", "--model", "comands", voice], 78,
            "no model comands came with the program; did you mean commands?"
        ),
        (
            ["listen", "--model", "voices", "--file", voice], 78,
            "there is commands, flatspeech; a folder needs a slash, as in ./voices"
        ),
        (["classify", "-m", "/tmp", voice], 78, "/tmp is no model, as it holds no model.json; name the folder of one"),
        (["listen", "--model", "/tmp", "--file", voice], 78, "/tmp is no model"),
        (["enroll", "x", "--model", "/tmp", "--from", voice], 78, "a model that came with the program: commands"),
        (["classify", "-m", "notes.txt", voice], 78, "notes.txt is a file; name the folder of the model"),
        (["config", "init"], 2, "config init asks three questions on a terminal; --yes takes the default of each"),
        (
            ["config", "init", "--yes", "notes.txt"], 1,
            "notes.txt: exists already and is not replaced; edit it, move it away"
        ),
        (["config", "init", "--yes", "sounds"], 1, "sounds: exists already and is not replaced; name another file"),
        (["config", "init", "--yes", "notes.txt/a"], 1, "notes.txt: cannot create this folder"),
        (["config", "check", "--yes"], 2, "--yes goes with config init"),
        (["inspect", voice, "-o", "sounds"], 1, "sounds: cannot write the report here"),
        (
            ["record", "-l", "left", "--speaker", "ada", "--file", voice, "notes.txt"], 1,
            "notes.txt: cannot create this folder: a file has its name"
        ),
        (
            ["classify", "--format", "audacity", "-o", "notes.txt", voice], 1,
            "notes.txt: cannot create this folder: a file has its name"
        ),
        (["classify", "--files-from", "/dev/null"], 0, "the list names no file, so there is nothing to classify"),
        (["evaluate", voice], 1, "not a folder; evaluate takes one with a folder for each word"),
        (["set", "yes", "0.7"], 2, "'yes 0.7' is not a word and its threshold; did you mean yes=0.7?"),
        (["set", "yes=80"], 2, "the threshold of 'yes' lies between 0 and 1; did you mean yes=0.8?"),
        (["set", "yes=80%"], 2, "did you mean yes=0.8?"), (["set", "yes=0,8"], 2, "did you mean yes=0.8?"),
        (["set", "yes=7"], 2, "the threshold of 'yes' lies between 0 and 1; such as 0.7"),
        (["config", "check", "notes.txt"], 1, "notes.txt:1:1: a value was expected"),
        (["completions"], 2, "completions takes the name of one shell: bash, zsh, fish"),
    ]

    @Test(arguments: table)
    func `one line says what to do`(_ row: (arguments: [String], status: Int32, says: String)) throws {
        let folder = try Self.folder()
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted()
        let program = try Program.beckon(row.arguments, folder: folder.path)
        #expect(program.status == row.status && program.output == "", "\(program.output)")
        #expect(program.error.contains(row.says), "\(program.error)")
        #expect(program.error.hasPrefix("beckon: ") && program.error.split(separator: "\n").count == 1)
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() == before)
    }

    @Test(arguments: [
        ("empty.wav", "is empty"), ("header.wav", "no audio after it"), ("film.mp4", "ffmpeg"),
        ("sounds", "no audio files"),
    ])
    func `a file without sound is one line of classify, and no table`(_ name: String, says: String) throws {
        let folder = try Self.folder()
        let program = try Program.beckon(["classify", name], folder: folder.path)
        #expect(program.status == 1 && program.output == "", "\(program.output)")
        #expect(program.error.contains(says) && program.error.split(separator: "\n").count == 1, "\(program.error)")
    }

    /// Commands that messages print to be copied, as a shell takes them.
    @Test(arguments: [
        (["enroll", "Peter's", "lamp"], #"beckon enroll 'Peter'\''s lamp'"#),
        (["enroll", "Peter's lamp", "a b.wav"], #"beckon enroll 'Peter'\''s lamp' --from 'a b.wav'"#),
        (["enroll", "Peter's", "lamp", "--from", "a b.wav"], #"beckon enroll 'Peter'\''s lamp' --from 'a b.wav'"#),
        (["enroll", "a b.wav"], "beckon enroll WORD --from 'a b.wav'?"),
        (["words", "Peter's", "lamp"], #"beckon words 'Peter'\''s lamp'"#),
        (["words", "Peter's lamp", "--forget-negative", "0"], #"beckon words 'Peter'\''s lamp' lists them"#),
        (["classify", "--word", "Peter's", "lamp=0.5", "a.wav"], #"--word 'Peter'\''s lamp=0.5'"#),
        (["set", "Peter's lamp=80"], #"did you mean 'Peter'\''s lamp=0.8'?"#),
        (["set", "Peter's lamp=80%"], #"did you mean 'Peter'\''s lamp=0.8'?"#),
        (["set", "Peter's lamp", "0.7"], #"did you mean 'Peter'\''s lamp=0.7'?"#),
        (["listen", "a b.wav"], "did you mean --file 'a b.wav'?"),
        (["inspect", "a.wav", "it's.html"], #"did you mean --output 'it'\''s.html'?"#),
        (["loud sounds"], "did you mean beckon classify 'loud sounds'?"),
        (["evaluate", "--stream", "loud sounds"], "beckon classify -f audacity -o 'loud sounds' 'loud sounds'"),
        (["classify", "--files-from", "a list"], "did you mean beckon classify 'a list', or -0?"),
    ])
    func `a name with a space and an apostrophe is quoted for the shell`(_ arguments: [String], says: String) throws {
        let folder = try TestFolder()
        try folder.folder("loud sounds")
        for name in ["a.wav", "b.wav"] {
            try folder.write(
                "loud sounds/\(name)",
                bytes: Array(try Data(contentsOf: URL(fileURLWithPath: Self.voice)))
            )
        }
        try folder.write("a b.wav", bytes: Array(try Data(contentsOf: URL(fileURLWithPath: Self.voice))))
        try folder.write("a list", bytes: [0, 1])
        let program = try Program.beckon(arguments, folder: folder.path)
        #expect(program.status != 0 && program.error.contains(says), "\(program.error)")
    }

    @Test func `a word is not a name of a file to export to`() throws {
        let folder = try Self.folder()
        let environment = ["BECKON_WORDS": folder.file("words")]
        let taught = try Program.beckon(
            ["enroll", "door", "--from", Voices.path("Rear_Center")],
            environment: environment
        )
        #expect(taught.status == 0, "\(taught.error)")
        let export = try Program.beckon(["words", "export", "door"], environment: environment, folder: folder.path)
        #expect(export.status == 1 && export.output == "")
        #expect(export.error.contains("did you mean beckon words export FILE door?"), "\(export.error)")
        #expect(!FileManager.default.fileExists(atPath: folder.file("door")))
        let called = try Program.beckon(["door"], environment: environment)
        #expect(called.status == 2 && called.error.contains("door is a word, not a command"))
    }

    @Test func `a closed standard input is one line`() throws {
        for command in ["classify -", "listen -"] {
            let program = try Program.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", "\"$0\" \(command) <&-", Program.beckonFile.path]
            )
            #expect(program.status == 1 && program.output == "")
            #expect(program.error.contains("standard input") && program.error.split(separator: "\n").count == 1)
        }
    }
}
