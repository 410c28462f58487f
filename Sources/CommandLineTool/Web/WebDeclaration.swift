extension WebCommand: Command {
    static let declaration = CommandDeclaration(
        names: [
            CommandName(
                name: "web",
                abstract: "print the secret for changes on the live page",
                tasks: [
                    CommandName(
                        name: "token",
                        abstract: "print the token, which is made where there is none",
                        manual: "Changes on the page need it, and the picture of the sound."
                    ),
                    CommandName(
                        name: "link",
                        abstract: "print a link to the page with the token in it, for a browser on this machine",
                        manual: """
                            The browser keeps the token and does not send it in the link.
                            Other users can read the command lines of all programs,
                            so give a browser the file of
                            .Fl -file
                            instead of the link.
                            """
                    ),
                ]
            )
        ],
        usage: ["beckon web token [--new]", "beckon web link [--file] [--new]"],
        discussion: """
            The service shows a live page to browsers if the configuration has the key
            web. Whoever has the token may mute, move thresholds, and see the sound. It
            is kept in the state folder, /var/lib/beckon for the system's service, which
            root can read.
            """,
        groups: [
            "Options": [
                SharedOptions.instance,
                Option(name: "--new", help: "make another token first; the old one is not valid any more"),
                Option(
                    name: "--file",
                    help:
                        "for web link: write a page that leads there, which only you can read, and print its path"
                ),
            ]
        ],
        examples: ["sudo beckon web token", "xdg-open \"$(beckon web link --file)\""]
    )
}
