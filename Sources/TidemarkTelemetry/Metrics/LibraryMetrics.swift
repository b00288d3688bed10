// SPDX-License-Identifier: Apache-2.0

internal import Metrics
internal import Synchronization

/// The back-end of swift-metrics in our programs: takes in what libraries measure, so that it is scraped beside our own
/// metrics.
///
/// A library may make labels of anything, such as the paths of requests. So there is a bound for the number of series
/// and for the length of each. Values beyond it are counted in one series.
final class LibraryMetrics: Sendable {
    /// The bounds, and what happens beyond them: the value counts as dropped.
    struct Bounds: Sendable {
        var seriesMax = 1_000
        var labelsMax = 8
        /// Bytes of a name, and of a value of a label.
        var textBytesMax = 128
    }

    /// A metric that a library asked for. A library may make the same metric in several places. Then it is one series.
    fileprivate struct Family {
        let kind: LibrarySeries.Kind
        let head: String
        /// By their labels, as they are written.
        var series: [String: (series: LibrarySeries, userCount: Int)] = [:]
    }

    fileprivate struct State {
        var families: [String: Family] = [:]
        var seriesCount = 0
        /// The names of lines that the families write.
        var lineNames: Set<String> = []
    }

    static let shared = LibraryMetrics()

    private static let isCollecting = Mutex(false)
    /// Names that only we and the kernel have.
    private static let ownPrefixes = ["tidemark_", "process_"]
    private static let droppedName = "tidemark_library_metrics_dropped_total"
    private static let droppedHelp =
        "Values of libraries' metrics that are not shown, because there are too many series or their names are unusable."

    private let bounds: Bounds
    private let state = Mutex(State())
    private let dropped = LibrarySeries(.counter)

    init(bounds: Bounds = Bounds()) {
        self.bounds = bounds
    }

    static func collect() {
        let isFirst = isCollecting.withLock { isCollecting in
            defer { isCollecting = true }
            return !isCollecting
        }
        if isFirst { MetricsSystem.bootstrap(shared) }
    }

    func write(to text: inout String) {
        text += Exposition.head(Self.droppedName, Self.droppedHelp, type: "counter")
        dropped.write(Self.droppedName, "", to: &text)
        let families = state.withLock { $0.families }
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text += family.head
            for (labels, entry) in family.series.sorted(by: { $0.key < $1.key }) {
                entry.series.write(name, labels, to: &text)
            }
        }
    }

    /// The series for a library's metric. Beyond the bounds it is the series of dropped values.
    private func series(_ kind: LibrarySeries.Kind, _ label: String, _ dimensions: [(String, String)]) -> LibrarySeries
    {
        guard let name = name(of: label, kind), let labels = labels(of: dimensions) else { return .dropping(dropped) }
        return state.withLock { state in
            if let known = state.families[name]?.series[labels] {
                guard state.families[name]?.kind == kind else { return .dropping(dropped) }
                state.families[name]?.series[labels]?.userCount += 1
                return known.series
            }
            guard state.seriesCount < bounds.seriesMax, state.makesRoom(for: name, kind, label) else {
                return .dropping(dropped)
            }
            let series = LibrarySeries(kind)
            state.families[name]?.series[labels] = (series, 1)
            state.seriesCount += 1
            return series
        }
    }

    /// A library needs the metric no more.
    private func destroy(_ handler: AnyObject) {
        guard let gone = (handler as? LibrarySeries) ?? (handler as? LibraryGauge)?.series else { return }
        state.withLock { state in
            for (name, family) in state.families {
                guard let labels = family.series.first(where: { $0.value.series === gone })?.key else { continue }
                state.families[name]?.series[labels]?.userCount -= 1
                guard state.families[name]?.series[labels]?.userCount == 0 else { return }
                state.families[name]?.series[labels] = nil
                state.seriesCount -= 1
                if state.families[name]?.series.isEmpty == true { state.remove(name) }
                return
            }
        }
    }

    /// The name for Prometheus, with the base unit and the ending that its conventions want. Nil: it cannot have one.
    private func name(of label: String, _ kind: LibrarySeries.Kind) -> String? {
        guard !label.isEmpty, label.utf8.count <= bounds.textBytesMax else { return nil }
        let name = Self.plain(label)
        guard !Self.ownPrefixes.contains(where: name.hasPrefix) else { return nil }
        let ending = kind.ending
        return name.hasSuffix(ending) ? name : name + ending
    }

    /// The labels as they are written, in the order of their names. Nil: they cannot be written.
    private func labels(of dimensions: [(String, String)]) -> String? {
        guard dimensions.count <= bounds.labelsMax else { return nil }
        var names: Set<String> = []
        var labels: [(name: String, value: String)] = []
        for (name, value) in dimensions {
            guard !name.isEmpty, max(name.utf8.count, value.utf8.count) <= bounds.textBytesMax else { return nil }
            var plain = Self.plain(name)
            // Prometheus has these for itself.
            if plain.hasPrefix("__") || plain == "le" || plain == "quantile" { plain = "of" + plain }
            guard names.insert(plain).inserted else { return nil }
            labels.append((plain, value))
        }
        guard !labels.isEmpty else { return "" }
        return String(Exposition.series("", labels.sorted { $0.name < $1.name }).dropLast().dropFirst().dropLast())
    }

    private static func plain(_ text: String) -> String {
        let plain = text.unicodeScalars.reduce(into: "") { plain, scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9": plain.unicodeScalars.append(scalar)
            default: plain += "_"
            }
        }
        return plain.first?.isNumber == true ? "_" + plain : plain
    }
}

extension LibraryMetrics.State {
    /// Whether the family is there, or can be. No two families write lines of the same name.
    fileprivate mutating func makesRoom(for name: String, _ kind: LibrarySeries.Kind, _ label: String) -> Bool {
        if let family = families[name] { return family.kind == kind }
        let names = kind.lineNames(name)
        guard lineNames.isDisjoint(with: names) else { return false }
        lineNames.formUnion(names)
        let help = "A metric of a library: \(label)"
        families[name] = LibraryMetrics.Family(
            kind: kind, head: Exposition.head(name, help, type: kind.type))
        return true
    }

    fileprivate mutating func remove(_ name: String) {
        guard let family = families.removeValue(forKey: name) else { return }
        lineNames.subtract(family.kind.lineNames(name))
    }
}

extension LibraryMetrics: MetricsFactory {
    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(.counter, label, dimensions)
    }

    func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(.counter, label, dimensions)
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        LibraryGauge(series(.gauge, label, dimensions))
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate ? series(.summary, label, dimensions) : LibraryGauge(series(.gauge, label, dimensions))
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(.times, label, dimensions)
    }

    func destroyCounter(_ handler: any CounterHandler) { destroy(handler) }
    func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { destroy(handler) }
    func destroyMeter(_ handler: any MeterHandler) { destroy(handler) }
    func destroyRecorder(_ handler: any RecorderHandler) { destroy(handler) }
    func destroyTimer(_ handler: any TimerHandler) { destroy(handler) }
}
