extension Devices: Command {
    static let declaration = CommandDeclaration(
        names: [CommandName(name: "devices", abstract: "list microphones and other capture devices")],
        usage: ["beckon devices [--json]"],
        discussion: """
            One line for each capture device: those of the cards, by names that stay the
            same whatever else is plugged in, and those that ALSA's configuration names,
            such as a sound server's. For a free device, what it can do without ALSA's
            conversions: sample rates, channels, formats. For one that is in use, by
            which program. Devices are queried, not started.

            The one marked with a star is what auto means: the sound server's default
            where there is one, else the first card that captures, USB microphones
            before others.
            """,
        groups: ["Options": [SharedOptions.jsonLines]],
        notes: """
            If there is no device, one line says where it was looked for and what to do,
            and the exit status is 1.
            """
    )
}
