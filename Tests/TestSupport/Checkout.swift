private import Foundation

/// The working copy that the tests were built from.
public enum Checkout {
    public static let path = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

    /// Folder of the shipped model.
    public static let model = path + "/Models/commands"

    /// Folder of a small model with confirming networks, whose weights are random.
    public static let confirmingModel = path + "/Tests/InferenceTests/Fixtures/confirming"
}
