import TestSupport
import Testing

@testable import CommandLineTool

/// Options of other programs, and values as other programs take them: one line that says what there is here.
struct ForeignOptionTests {
    static let table: [(arguments: [String], says: [String])] = [
        (["listen", "--keywords", "alexa"], ["--words W,…", "--wake-word NAME"]),
        (["listen", "--keyword_paths", "x.ppn"], ["--wake-word FILE"]),
        (["listen", "--sensitivities", "0.5"], ["--sensitivity strict", "--threshold T", "higher is stricter"]),
        (["listen", "--audio_device_index", "2"], ["--device NAME", "beckon devices"]),
        (["listen", "--audio-device-index=2"], ["--device NAME"]),
        (["record", "--audio_device_index", "2"], ["--device NAME"]),
        (["listen", "--show_audio_devices"], ["beckon devices"]), (["listen", "--access_key", "x"], ["leave it out"]),
        (["listen", "--mic-command", "arecord"], ["--device NAME", "beckon listen -"]),
        (["listen", "--mic-command-rate", "16000"], ["--device NAME"]),
        (["serve", "--mic-command", "arecord"], ["device", "beckon devices"]),
        (["listen", "--snd-command", "aplay"], ["--speaker NAME"]), (["listen", "--debug"], ["log: \"debug\""]),
        (["classify", "--verbose", "x.wav"], ["beckon inspect FILE"]), (["serve", "--debug"], ["level"]),
        (["listen", "--run", "/bin/x"], ["WORD=PROGRAM", "did you mean '*=/bin/x'?"]),
        (["classify", "--run", "left=x", "y.wav"], ["beckon listen --run WORD=PROGRAM", "beckon config init"]),
        (["listen", "--detection-command", "x"], ["--run WORD=PROGRAM"]), (["listen", "--vad"], ["leave it out"]),
        (["listen", "--duration", "5"], ["--seconds S"]), (["inspect", "--start", "5", "x.wav"], ["--from S"]),
        (["classify", "--wav_path", "x.wav"], ["beckon classify FILE"]),
        (["listen", "--wav_path", "x.wav"], ["--file FILE"]),
        // Underscores for hyphens are no other option.
        (["listen", "--wake_word", "x"], ["did you mean --wake-word?"]),
        (["listen", "--sensitivity", "0.5"], ["not '0.5'; did you mean --threshold 0.5, where higher is stricter?"]),
        (["classify", "--sensitivity", "50%", "x.wav"], ["did you mean --threshold 0.5"]),
        (["listen", "--sensitivity", "Strict"], ["did you mean strict?"]),
        (["set", "sensitivity", "0.5"], ["a number is a threshold, of one word: WORD=0.5"]),
        (["events", "--seconds", "5x"], ["--seconds takes"]),
        (["inspect", "x.wav", "--from", "1:60"], ["--from takes"]),
        (["inspect", "x.wav", "--from", "1,5"], ["did you mean 1.5?"]),
    ]

    @Test(arguments: table)
    func `one line names what Beckon has`(_ row: (arguments: [String], says: [String])) throws {
        let program = try Program.beckon(row.arguments)
        #expect(program.status == 2 && program.output == "", "\(program.error)")
        #expect(program.error.split(separator: "\n").count == 1, "\(program.error)")
        for part in row.says { #expect(program.error.contains(part), "\(part): \(program.error)") }
    }

    @Test func `times have units or are positions wherever a command takes seconds`() throws {
        let voice = Voices.path("Front_Left")
        let same = [["0.5", "1.4"], ["500ms", "1.4s"], ["0:00.5", "0:01.4"], ["00:00:00.5", "1400 ms"]].map { times in
            ["inspect", "--json", "--from", times[0], "--to", times[1], voice]
        }
        let first = try Program.beckon(same[0])
        #expect(first.status == 0)
        for arguments in same.dropFirst() {
            #expect(try Program.beckon(arguments).output == first.output, "\(arguments)")
        }
        let listened = try Program.beckon(["listen", "--file", voice, "--once", "--seconds", "1 min"])
        #expect(listened.status == 0 && listened.output == "left\n", "\(listened.error)")
    }
}
