// SPDX-License-Identifier: Apache-2.0

/// Any double in JSON. JSON has no infinity, and most programs lose the sign of zero, so these are texts.
struct ExactNumber: Codable, Equatable {
    let value: Double

    init(_ value: Double) { self.value = value }

    /// Nil if it is none of the texts.
    init?(text: String) {
        switch text {
        case "nan": value = .nan
        case "inf": value = .infinity
        case "-inf": value = -.infinity
        case "-0": value = -0.0
        default: return nil
        }
    }

    /// Nil if it is written as a number.
    var text: String? {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value > 0 ? "inf" : "-inf" }
        return value == 0 && value.sign == .minus ? "-0" : nil
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            guard let number = ExactNumber(text: text) else {
                throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
            }
            self = number
        } else {
            value = try container.decode(Double.self)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let text { try container.encode(text) } else { try container.encode(value) }
    }
}
