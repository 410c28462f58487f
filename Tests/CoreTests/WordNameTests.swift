import Core
import Testing

struct WordNameTests {
    @Test(arguments: ["Hey_Computer", "hey-computer", " hey  computer ", "HEY computer", "__hey_-_computer"])
    func `names are compared without case, and with one kind of space`(_ name: String) {
        #expect(WordName.folded(name) == "hey computer")
        #expect(WordName.match(name, in: ["stop", "hey computer"]) == "hey computer")
    }

    @Test func `the same name comes first, and several equal ones are none`() {
        #expect(WordName.match("Go", in: ["go", "Go"]) == "Go")
        #expect(WordName.match("GO", in: ["go", "Go"]) == nil)
        #expect(WordName.match("heycomputer", in: ["hey computer"]) == nil)
        #expect(WordName.match("", in: ["go"]) == nil)
    }
}
