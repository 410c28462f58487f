extension ESPHomeCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "esphome",
                abstract: "print the key with which Home Assistant connects to the voice satellite",
                tasks: [
                    CommandName(
                        name: "key",
                        abstract: "print the key, which is made where there is none; on a terminal also as a QR code",
                        manual: "Home Assistant asks for it when the satellite is added."
                    )
                ]
            )
        ],
        usage: ["beckon esphome key [--new]"],
        discussion: """
            The service is a voice satellite of Home Assistant, by ESPHome's protocol,
            if the configuration has the key esphome. Whoever has its key hears what
            follows a word, and may play sounds. It is kept in the state folder,
            /var/lib/beckon for the system's service, which root can read.
            """,
        groups: [
            "Options": [
                SharedOptions.instance,
                Option(
                    name: "--new",
                    help: "make another key first; restart the service, and give Home Assistant the new one"
                ),
            ]
        ],
        examples: ["sudo beckon esphome key"]
    )
}
