// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// A file of JSON that only its owner can read.
struct OwnJSONFile {
    /// Nil: there is no home.
    let path: String?
    /// What is in it: "contexts".
    let content: String
    /// What helps if anything else is in it, as a part of a sentence.
    let remedy: String

    /// Nil if there is no file.
    ///
    /// - Throws: ``AdminFailure`` if it holds anything else.
    func read<Value: Decodable>(_ type: Value.Type) throws(AdminFailure) -> Value? {
        guard let path, FileManager.default.fileExists(atPath: path) else { return nil }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw AdminFailure(.refused, "The \(content) in \(path) cannot be read. Check who may read the file.")
        }
        guard let value = try? JSONDecoder().decode(type, from: data) else {
            throw AdminFailure(.refused, "\(path) does not hold \(content). Remove it, and \(remedy)")
        }
        return value
    }

    /// Makes its folder, if there is none.
    ///
    /// - Returns: the file's path.
    func makeFolder() throws(AdminFailure) -> String {
        guard let path else {
            throw AdminFailure(.refused, "There is no place for \(content). Set HOME or XDG_CONFIG_HOME.")
        }
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw AdminFailure(.refused, "Cannot create \(directory): \(error.localizedDescription)")
        }
        return path
    }

    /// Writes the file. It appears completely or not at all.
    func write(_ value: some Encodable, to path: String) throws(AdminFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(value) else {
            throw AdminFailure(.fault, "The \(content) cannot be written as JSON.")
        }
        try AtomicFile.write(data, to: path, mode: 0o600)
    }
}
