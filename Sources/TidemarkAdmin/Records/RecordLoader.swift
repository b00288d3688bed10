// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// A record of an input, or why it cannot be read.
struct SourcedRecord {
    /// The line where it begins, from 1.
    let line: Int
    let record: Result<RecordLine, InputMistake>
}

/// Reads records that have the types of their fields, one after the other.
protocol RecordSource {
    /// Nil at the end.
    mutating func next() throws(AdminFailure) -> SourcedRecord?
}

/// Reads the lines that `records export`, `records get`, `records query -o json` and `accounts export` write.
struct RecordLinesSource: RecordSource {
    private var reader: JSONLinesReader
    private var lines: SavedLines

    init(_ reader: JSONLinesReader, _ lines: SavedLines) {
        self.reader = reader
        self.lines = lines
    }

    mutating func next() throws(AdminFailure) -> SourcedRecord? {
        while let line = try reader.nextLine() {
            if JSONLinesReader.isBlank(line) { continue }
            do throws(InputMistake) {
                guard let record = try lines.record(in: line) else { continue }
                return SourcedRecord(line: reader.line, record: .success(record))
            } catch {
                return SourcedRecord(line: reader.line, record: .failure(error))
            }
        }
        guard !lines.isCutOff else {
            throw AdminFailure(.failedCheck, "The archive has no end: it was cut off.")
        }
        return nil
    }
}

/// Saves the records of an input that has their types: the one way of `records save` and `import` (R-910).
enum RecordLoader {
    /// - Parameters:
    ///   - input: its name, for messages.
    ///   - progress: is told after each record.
    /// - Throws: ``AdminFailure`` if the input cannot be read to its end; the part before is saved.
    static func load(
        _ source: some RecordSource, from input: String, into saver: RecordSaver, progress: (Int) -> Void = { _ in }
    ) async throws {
        var source = source
        var mistake: AdminFailure?
        var count = 0
        while let row = next(&source, &mistake) {
            let place = "\(input):\(row.line)"
            switch row.record {
            case .success(let record): try await saver.save(record, at: place)
            case .failure(let mistake): saver.fail(place, mistake.text)
            }
            count += 1
            progress(count)
        }
        try await saver.finish()
        if let mistake {
            let soFar = saver.isDryRun ? "" : " So far: \(saver.tally.text) \(Importer.advice)"
            throw AdminFailure(.failedCheck, mistake.description + soFar)
        }
    }

    private static func next(_ source: inout some RecordSource, _ mistake: inout AdminFailure?) -> SourcedRecord? {
        do throws(AdminFailure) {
            return try source.next()
        } catch {
            mistake = error
            return nil
        }
    }
}

extension RecordSaver.Tally {
    /// What became of an input, in a sentence.
    var text: String {
        "Saved \(savedCount), skipped \(skippedCount) that existed, refused \(failedCount).\(unreadableText)"
    }

    /// Empty if nothing was left out.
    var unreadableText: String {
        unreadableCount == 0
            ? ""
            : " Left out \(Amount.text(unreadableCount, "encrypted value")): the zone does not have their keys, or the records are "
                + "here without them. accounts import brings the keys, and --replace saves the values over existing records."
    }

    /// Whether nothing of the input is missing.
    var isWhole: Bool { failedCount == 0 && unreadableCount == 0 }
}
