extension BackupCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "backup",
                abstract: "keep configurations, words and secrets of all services in a file",
                operands: [Operand(title: "file", completion: .file)]
            ),
            CommandName(
                name: "restore",
                abstract: "put back what a backup has",
                operands: [Operand(title: "file", completion: .file)]
            ),
        ],
        abstract: "keep what the services have, and put it back",
        usage: ["beckon backup FILE", "beckon restore [--force] FILE"],
        discussion: """
            A backup is a compressed tar archive: the configurations of all services with
            the files beside them, taught words with their recordings, added wake words,
            the live page's token, the keys and states of ESPHome's satellites, the names
            of clients, and the password, the certificates and the wake words that
            configurations name elsewhere. For root they are those of the system's
            services, else the user's. Clips and recent words are not in it.

            Restoring replaces files of the same names and leaves others. A backup that is
            damaged, or names anything else, is refused as a whole.
            """,
        groups: [
            "Options": [
                Option(name: "--force", help: "restore although a service runs, which goes on with what it has")
            ]
        ],
        notes: "The file holds secrets, so only its owner may read it. - is standard output, or standard input.",
        examples: ["sudo beckon backup beckon.tar.gz", "sudo beckon restore beckon.tar.gz"]
    )
}
