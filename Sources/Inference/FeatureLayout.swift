/// How the columns that a front end makes lie in time and frequency.
public struct FeatureLayout: Sendable, Equatable {
    /// Columns over the model's whole window.
    public let columns: Int
    /// Samples from one column to the next.
    public let hopSamples: Int
    /// Samples under one column.
    public let frameSamples: Int
    /// Where each band of a column is most sensitive, in hertz, from low to high; empty where columns have no bands.
    public let bandHertz: [Double]

    init(_ frontEnd: FrontEnd) {
        columns = frontEnd.columns
        hopSamples = frontEnd.hopSamples
        frameSamples = frontEnd.frameSamples
        bandHertz = frontEnd.bandHertz
    }
}
