// SPDX-License-Identifier: Apache-2.0

/// A scrape in the text format of Prometheus, read strictly: each line must be as the format has it.
package struct MetricsScrape: Sendable {
    /// A metric with its series.
    package struct Family: Sendable {
        package let name: String
        package let help: String
        package let type: String
        package fileprivate(set) var samples: [Sample] = []

        /// The names of its labels, without those of the format.
        package var labels: Set<String> { Set(samples.flatMap(\.labels.keys)).subtracting(["le", "quantile"]) }
    }

    /// A line with a value.
    package struct Sample: Sendable, Equatable {
        package let name: String
        package let labels: [String: String]
        package let value: Double
    }

    /// What is wrong with a line.
    package struct Mistake: Error, CustomStringConvertible {
        package let description: String
    }

    /// In the order of the text.
    package private(set) var families: [Family] = []

    package init(_ text: String) throws {
        guard text.hasSuffix("\n") else { throw Mistake(description: "the last line has no end") }
        for line in text.dropLast().split(separator: "\n", omittingEmptySubsequences: false) {
            do {
                try take(line)
            } catch let mistake as Mistake {
                throw Mistake(description: "\(mistake): \(line)")
            }
        }
        guard pendingHelp == nil else { throw Mistake(description: "the last HELP has no TYPE") }
        try families.forEach { try Self.check($0) }
    }

    package subscript(name: String) -> Family? { families.first { $0.name == name } }

    /// The value of a series; nil if there is none with just these labels.
    package func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        families.lazy.flatMap(\.samples).first { $0.name == name && $0.labels == labels }?.value
    }

    // MARK: Lines

    private var pendingHelp: (name: String, help: String)?

    private mutating func take(_ line: Substring) throws {
        if line.hasPrefix("# HELP ") {
            let (name, help) = Self.split(line.dropFirst(7))
            guard pendingHelp == nil, Self.isName(name), self[name] == nil, !help.isEmpty else {
                throw Mistake(description: "a wrong HELP")
            }
            pendingHelp = (name, try Self.unescaped(help, quotes: false))
        } else if line.hasPrefix("# TYPE ") {
            let (name, type) = Self.split(line.dropFirst(7))
            guard let (helped, help) = pendingHelp, helped == name,
                ["counter", "gauge", "histogram", "summary"].contains(type)
            else { throw Mistake(description: "a wrong TYPE") }
            pendingHelp = nil
            families.append(Family(name: name, help: help, type: String(type)))
        } else {
            let sample = try Self.sample(line)
            guard pendingHelp == nil, let family = families.last, Self.names(of: family).contains(sample.name) else {
                throw Mistake(description: "a line that belongs to no metric")
            }
            guard !family.samples.contains(where: { $0.name == sample.name && $0.labels == sample.labels }) else {
                throw Mistake(description: "a series that comes twice")
            }
            families[families.count - 1].samples.append(sample)
        }
    }

    private static func names(of family: Family) -> [String] {
        switch family.type {
        case "histogram": ["_bucket", "_sum", "_count"].map { family.name + $0 }
        case "summary": ["", "_sum", "_count"].map { family.name + $0 }
        default: [family.name]
        }
    }

    private static func split(_ text: Substring) -> (String, Substring) {
        let end = text.firstIndex(of: " ") ?? text.endIndex
        return (String(text[..<end]), text[end...].dropFirst())
    }

    private static func sample(_ line: Substring) throws -> Sample {
        var rest = line[...]
        let name = String(rest.prefix { $0 != "{" && $0 != " " })
        guard isName(name) else { throw Mistake(description: "a wrong name") }
        rest = rest.dropFirst(name.count)
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            repeat {
                let (label, value) = try takeLabel(&rest)
                guard labels.updateValue(value, forKey: label) == nil else {
                    throw Mistake(description: "a label that comes twice")
                }
            } while try isMore(&rest)
        }
        guard rest.first == " ", let value = number(rest.dropFirst()) else {
            throw Mistake(description: "a wrong value")
        }
        return Sample(name: name, labels: labels, value: value)
    }

    private static func takeLabel(_ rest: inout Substring) throws -> (String, String) {
        let label = String(rest.prefix { $0 != "=" })
        rest = rest.dropFirst(label.count)
        guard isName(label), !label.contains(":"), !label.hasPrefix("__"), rest.hasPrefix("=\"") else {
            throw Mistake(description: "a wrong label")
        }
        rest = rest.dropFirst(2)
        var end = rest.startIndex
        while end < rest.endIndex, rest[end] != "\"" {
            // What follows a backslash is no end.
            if rest[end] == "\\" { rest.formIndex(after: &end) }
            if end < rest.endIndex { rest.formIndex(after: &end) }
        }
        guard end < rest.endIndex else { throw Mistake(description: "a label without an end") }
        let value = try unescaped(rest[..<end], quotes: true)
        rest = rest[end...].dropFirst()
        return (label, value)
    }

    private static func isMore(_ rest: inout Substring) throws -> Bool {
        guard let next = rest.popFirst(), next == "," || next == "}" else {
            throw Mistake(description: "labels without an end")
        }
        return next == ","
    }

    private static func isName(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9" ~= first) else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", ":": true
            default: false
            }
        }
    }

    private static func number(_ text: Substring) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.allSatisfy { "0123456789.eE+-".contains($0) } ? Double(text) : nil
        }
    }

    private static func unescaped(_ text: Substring, quotes: Bool) throws -> String {
        var result = ""
        var isEscape = false
        for character in text {
            if isEscape {
                switch character {
                case "\\": result += "\\"
                case "n": result += "\n"
                case "\"" where quotes: result += "\""
                default: throw Mistake(description: "a wrong escape")
                }
                isEscape = false
            } else if character == "\\" {
                isEscape = true
            } else {
                result.append(character)
            }
        }
        guard !isEscape else { throw Mistake(description: "a wrong escape") }
        return result
    }

    // MARK: Metrics

    private static func check(_ family: Family) throws {
        let negative = family.samples.contains { $0.value < 0 || $0.value.isNaN }
        switch family.type {
        case "counter":
            guard family.name.hasSuffix("_total"), !negative else {
                throw Mistake(description: "\(family.name) is no counter")
            }
        case "histogram": try checkBuckets(of: family)
        default:
            guard !family.name.hasSuffix("_total") else {
                throw Mistake(description: "\(family.name) is called as a counter")
            }
        }
    }

    /// Buckets of one series stand together, grow, and end with one of all values.
    private static func checkBuckets(of family: Family) throws {
        var rest = family.samples[...]
        while let first = rest.first {
            var labels = first.labels
            labels["le"] = nil
            var (end, count) = (-Double.infinity, 0.0)
            while let bucket = rest.first, bucket.name == family.name + "_bucket" {
                var own = bucket.labels
                guard let text = own.removeValue(forKey: "le"), let next = number(text[...]), own == labels,
                    next > end, bucket.value >= count
                else { throw Mistake(description: "\(family.name): a wrong bucket \(bucket)") }
                (end, count) = (next, bucket.value)
                rest = rest.dropFirst()
            }
            let (sum, total) = (rest.popFirst(), rest.popFirst())
            guard end == .infinity, sum?.name == family.name + "_sum", sum?.labels == labels,
                total == Sample(name: family.name + "_count", labels: labels, value: count)
            else { throw Mistake(description: "\(family.name): a series without its end \(labels)") }
        }
    }
}
