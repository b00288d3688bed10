// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TidemarkTestSupport

/// Grafana's dashboard and Prometheus' rules of deploy/, against what a server exports.
@Suite struct DashboardTests {
    private struct Dashboard: Decodable {
        struct Target: Decodable { let expr: String }
        struct Panel: Decodable {
            struct Place: Decodable { let x, y, w, h: Int }
            let title: String
            let type: String
            let description: String?
            let gridPos: Place
            let targets: [Target]?
        }

        let title: String
        let uid: String
        let panels: [Panel]
    }

    /// Prometheus itself adds these.
    private static let addedMetrics: Set<String> = ["up"]
    private static let addedLabels: Set<String> = ["job", "instance", "le"]

    /// Whether what a query names is in the scrape.
    private func check(_ query: String, _ scrape: MetricsScrape, _ subject: String) throws {
        let names = try PromQLNames(query)
        var labels = Self.addedLabels
        for (metric, matchers) in names.selectors where !Self.addedMetrics.contains(metric) {
            let samples = scrape.families.flatMap(\.samples).filter { $0.name == metric }
            #expect(!samples.isEmpty, "\(subject): no server has \(metric)")
            labels.formUnion(samples.flatMap(\.labels.keys))
            for matcher in matchers where !Self.addedLabels.contains(matcher.label) {
                let values = Set(samples.compactMap { $0.labels[matcher.label] })
                #expect(!values.isEmpty, "\(subject): \(metric) has no label \(matcher.label)")
                for value in matcher.values {
                    #expect(values.contains(value), "\(subject): \(metric) has no \(matcher.label)=\(value)")
                }
            }
        }
        #expect(labels.isSuperset(of: names.groups), "\(subject): \(names.groups.subtracting(labels))")
    }

    @Test func `R-819: each query of the dashboard names what a server exports`() async throws {
        let text = try MetricsTests.text("deploy/grafana-dashboard.json")
        let dashboard = try JSONDecoder().decode(Dashboard.self, from: Data(text.utf8))
        let scrape = try await MetricsTests.scrape().metrics
        var queryCount = 0
        for panel in dashboard.panels where panel.type != "row" {
            #expect(panel.description?.isEmpty == false, "\(panel.title) says nothing of itself")
            #expect(panel.targets?.isEmpty == false, "\(panel.title) shows nothing")
            for target in panel.targets ?? [] {
                try check(target.expr, scrape, panel.title)
                queryCount += 1
            }
        }
        #expect(queryCount >= 20)
        let places = dashboard.panels.flatMap { panel in
            (0..<panel.gridPos.h).flatMap { row in
                (0..<panel.gridPos.w).map { "\(panel.gridPos.x + $0),\(panel.gridPos.y + row)" }
            }
        }
        #expect(Set(places).count == places.count, "panels lie on each other")
    }

    @Test func `R-819: each alert names what a server exports, and says what to do`() async throws {
        let rules = try AlertRules(MetricsTests.text("deploy/alerts.yaml"))
        let scrape = try await MetricsTests.scrape().metrics
        #expect(rules.alerts.count >= 12)
        #expect(Set(rules.alerts.map(\.name)).count == rules.alerts.count)
        for alert in rules.alerts {
            try check(alert.expression, scrape, alert.name)
            #expect(["page", "ticket"].contains(alert.severity), "\(alert.name)")
            // What is wrong, then what to do: a sentence that begins with a verb.
            let sentences = alert.summary.split(separator: ". ")
            let verbs = ["Look", "Check", "Start", "Renew", "Free", "Raise", "Add", "Bring", "Ask"]
            #expect(sentences.count >= 2, "\(alert.name): \(alert.summary)")
            #expect(
                sentences.dropFirst().contains { sentence in verbs.contains { sentence.hasPrefix($0 + " ") } },
                "\(alert.name) does not say what to do: \(alert.summary)")
        }
    }

    @Test func `R-819: a query that names what there is not is found`() throws {
        let scrape = try MetricsScrape(
            """
            # HELP a_total A.
            # TYPE a_total counter
            a_total{kind="x"} 1

            """)
        try check(#"sum by (kind) (rate(a_total{kind=~"x", job="t"}[5m])) > 0.5 and up == 1"#, scrape, "right")
        for query in [
            "b_total", #"a_total{sort="x"}"#, #"a_total{kind="y"}"#, #"a_total{kind=~"x|y"}"#,
            "sum by (sort) (a_total)",
        ] {
            withKnownIssue { try check(query, scrape, "wrong") }
        }
        for query in ["rate(a_total[5m]", "a_total[x]", "guess(a_total)", "a_total{kind=x}", "1 + 1", "a_total; b"] {
            #expect(throws: PromQLNames.Mistake.self, "\(query)") { try PromQLNames(query) }
        }
    }
}

/// The alerts of a file of Prometheus' rules. It reads the part of YAML that our file has, and refuses the rest.
struct AlertRules {
    struct Alert {
        var name = ""
        var expression = ""
        var duration = ""
        var severity = ""
        var summary = ""
    }

    struct Mistake: Error, CustomStringConvertible {
        let description: String
    }

    private(set) var alerts: [Alert] = []

    /// How each line looks, and what it says. The keys of an alert come in this order.
    private static let keys = ["expr", "for", "labels", "severity", "annotations", "summary"]

    init(_ text: String) throws {
        let lines = text.split(separator: "\n").filter { !$0.drop { $0 == " " }.hasPrefix("#") }
        guard lines.prefix(3).elementsEqual(["groups:", "  - name: tidemark", "    rules:"]) else {
            throw Mistake(description: "the file begins otherwise")
        }
        var next = Self.keys.count
        for line in lines.dropFirst(3) {
            if line.hasPrefix("      - alert: ") {
                guard next == Self.keys.count else { throw Mistake(description: "an alert without its end: \(line)") }
                alerts.append(Alert(name: String(line.dropFirst(15))))
                next = 0
                continue
            }
            guard next < Self.keys.count, !alerts.isEmpty else {
                throw Mistake(description: "a line too many: \(line)")
            }
            try take(line, Self.keys[next])
            next += 1
        }
        guard next == Self.keys.count else { throw Mistake(description: "the last alert has no end") }
    }

    private mutating func take(_ line: Substring, _ key: String) throws {
        let isNested = key == "severity" || key == "summary"
        let start = "\(isNested ? "          " : "        ")\(key):"
        guard line.hasPrefix(start) else { throw Mistake(description: "\(key) is missing: \(line)") }
        let rest = line.dropFirst(start.count)
        if key == "labels" || key == "annotations" {
            guard rest.isEmpty else { throw Mistake(description: "a value too many: \(line)") }
            return
        }
        guard rest.hasPrefix(" "), let value = Self.value(rest.dropFirst()) else {
            throw Mistake(description: "a wrong value: \(line)")
        }
        switch key {
        case "expr": alerts[alerts.count - 1].expression = value
        case "for": alerts[alerts.count - 1].duration = value
        case "severity": alerts[alerts.count - 1].severity = value
        default: alerts[alerts.count - 1].summary = value
        }
    }

    /// A word, or a text in single quotes, in which two of them are one.
    private static func value(_ text: Substring) -> String? {
        if text.first == "'" {
            guard text.count > 2, text.last == "'" else { return nil }
            let inner = text.dropFirst().dropLast().replacing("''", with: "\u{0}")
            return inner.contains("'") ? nil : String(inner.replacing("\u{0}", with: "'"))
        }
        let isWord = !text.isEmpty && text.allSatisfy { $0.isLetter || $0.isNumber }
        return isWord ? String(text) : nil
    }
}
