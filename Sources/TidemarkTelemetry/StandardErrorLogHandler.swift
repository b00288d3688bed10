// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Logging

/// Writes the log to standard error: one line for each entry, as text (``LogLine``) or JSON (``JSONLogLine``).
struct StandardErrorLogHandler: LogHandler {
    private let label: String
    private let format: Log.Format
    var logLevel: Logger.Level
    var metadata = Logger.Metadata()

    init(label: String, logLevel: Logger.Level, format: Log.Format) {
        self.label = label
        self.format = format
        self.logLevel = logLevel
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        let pairs = all.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") }
        let stamp = LogTime.text(seconds: Int64(time.tv_sec), milliseconds: Int(time.tv_nsec / 1_000_000))
        let (level, text) = (event.level.rawValue, event.message.description)
        let line =
            switch format {
            case .text: LogLine.format(time: stamp, level: level, text: text, pairs: pairs)
            case .json: JSONLogLine.format(time: stamp, level: level, label: label, text: text, pairs: pairs)
            }
        // One call, so that lines of several threads and processes do not mix. If nobody reads them, they are lost.
        _ = Array(line.utf8).withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
