import Evaluation
import Testing

/// The rules by which detections are compared with what was said, each as a row of a table.
struct StreamScoringTests {
}
