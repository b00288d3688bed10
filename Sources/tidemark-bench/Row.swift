// SPDX-License-Identifier: Apache-2.0

/// One figure and that of its reference.
struct Row {
    /// What the ratio of value and reference should be.
    enum Goal {
        case atLeast(Double)
        case atMost(Double)
        /// None: the ratio is one point of a curve.
        case shown

        var text: String {
            switch self {
            case .atLeast(let ratio): ">= \(ratio)"
            case .atMost(let ratio): "<= \(ratio)"
            case .shown: ""
            }
        }

        func isMet(by ratio: Double) -> Bool {
            switch self {
            case .atLeast(let goal): ratio >= goal
            case .atMost(let goal): ratio <= goal
            case .shown: true
            }
        }
    }

    let name: String
    let unit: String
    /// Medians over the repetitions.
    let value: Double
    let reference: Double
    let goal: Goal

    init(_ name: String, unit: String, _ pair: Comparison, goal: Goal) {
        self.name = name
        self.unit = unit
        value = pair.values.median
        reference = pair.references.median
        self.goal = goal
    }

    var ratio: Double { reference == 0 ? 0 : value / reference }

    var isMet: Bool { goal.isMet(by: ratio) }

    /// Whether there is a goal to meet.
    var hasGoal: Bool { !goal.text.isEmpty }
}

/// The results of one row's repetitions.
struct Comparison {
    var values: [Double] = []
    var references: [Double] = []
}

extension [Double] {
    /// 0 if there are none.
    var median: Double { quantile(0.5) }

    /// The value below which `fraction` of all lie; 0 if there are none.
    func quantile(_ fraction: Double) -> Double {
        guard !isEmpty else { return 0 }
        return sorted()[Swift.min(Int(Double(count) * fraction), count - 1)]
    }
}
