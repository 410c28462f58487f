/// A label of a mark and the places where it may stand, the best one first.
struct WantedLabel {
    /// A place beside a point of the plot.
    struct Place: Equatable {
        enum Side: Equatable { case right, centre, left }

        /// Fraction of the plot's width, 0…1.
        let x: Double
        /// Middle of the text, in CSS pixels from the plot's top.
        let y: Double
        let side: Side
        /// Distance from the point, in CSS pixels.
        var gap = 0.0

        /// Left and right edge of a text, on a plot of this width.
        func extent(of length: Double, on width: Double) -> ClosedRange<Double> {
            switch side {
            case .right: x * width + gap...x * width + gap + length
            case .centre: x * width - length / 2...x * width + length / 2
            case .left: x * width - gap - length...x * width - gap
            }
        }

        var style: String {
            let top = "top:\(short(y))px;"
            switch side {
            case .right: return top + "left:\(short(x * 100))%;margin-left:\(short(gap))px;transform:translateY(-50%)"
            case .centre: return top + "left:\(short(x * 100))%;transform:translate(-50%,-50%)"
            case .left:
                return top + "right:\(short((1 - x) * 100))%;margin-right:\(short(gap))px;transform:translateY(-50%)"
            }
        }
    }

    let text: String
    let places: [Place]
    /// The label must fit into this fraction of the plot's width; nil if it need not.
    var room: Double?
}

/// Places labels so that none covers another or leaves the plot; one without a free place is left out.
enum LabelPlacement {
    private static let lineHeight = 15.0

    /// - Parameters:
    ///   - height: of the plot, in CSS pixels.
    ///   - plotWidth: the plot's least width at each width of the page.
    static func place(
        _ labels: [WantedLabel],
        height: Double,
        plotWidth: (PageWidth) -> Double
    ) -> [Markup] {
        var chosen: [(label: Int, place: WantedLabel.Place, widths: [PageWidth])] = []
        for page in PageWidth.allCases {
            let width = plotWidth(page)
            var taken: [(x: ClosedRange<Double>, y: Double)] = []
            for (number, label) in labels.enumerated() {
                let length = textWidth(label.text) + 4
                if let room = label.room, length > room * width { continue }
                let place = label.places.first { place in
                    let x = place.extent(of: length, on: width)
                    let isInside =
                        x.lowerBound >= 0 && x.upperBound <= width && place.y >= lineHeight / 2
                        && place.y <= height - lineHeight / 2
                    return isInside
                        && !taken.contains { $0.x.overlaps(x) && abs($0.y - place.y) < lineHeight }
                }
                guard let place else { continue }
                taken.append((place.extent(of: length, on: width), place.y))
                if let index = chosen.firstIndex(where: { $0.label == number && $0.place == place }) {
                    chosen[index].widths.append(page)
                } else {
                    chosen.append((number, place, [page]))
                }
            }
        }
        return chosen.map { choice in
            .element(
                "span",
                ["class": "label " + PageWidth.classes(choice.widths), "style": choice.place.style],
                [.text(labels[choice.label].text)]
            )
        }
    }
}
