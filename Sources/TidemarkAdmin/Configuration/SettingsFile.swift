// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TidemarkDomain
internal import TidemarkPostgres

/// The settings of a server in a file of YAML or JSON. Each key is a flag of `tidemark serve` without its hyphens.
///
/// NB: swift-configuration would read such files, but cannot say on which line a value is. An operator must be told that.
package struct SettingsFile: Sendable {
    /// A value with its place.
    struct Value: Sendable, Equatable {
        /// As the flag would have it. Several are separated by commas.
        let text: String
        let place: FilePlace
    }

    /// Where a server looks without `--config`.
    package static let usualPath = "/etc/tidemark/tidemark.yaml"
    /// Bytes of a file. Longer ones are refused.
    static let byteCountMax = 1_048_576
    /// Mistakes that are told at once.
    private static let problemsMax = 20

    package let path: String
    private(set) var values: [String: Value] = [:]
    private(set) var problems: [SettingsProblem] = []

    /// Reads a file. What is wrong in it is in ``problems``.
    ///
    /// - Throws: ``AdminFailure`` if it cannot be read.
    package init(readingFrom path: String) throws(AdminFailure) {
        let (text, mode) = try Self.content(of: path)
        self.init(text, path: path, mode: mode)
    }

    /// - Parameter mode: who may read and write the file, as POSIX says it.
    init(_ text: String, path: String, mode: Int) {
        self.path = path
        do throws(SettingsProblem) {
            guard let root = try YAMLText.read(text) else { return }
            take(root)
        } catch {
            problems.append(error)
        }
        checkSecrets(mode)
    }

    /// - Parameter root: what the file says. A parameter of its own, for tests.
    init(_ root: SettingsNode?, path: String, mode: Int) {
        self.path = path
        if let root { take(root) }
        checkSecrets(mode)
    }

    /// The file of `--config` or TIDEMARK_CONFIG, or the one in the usual place; nil if there is none.
    package static func chosen(_ option: String?, variables: [String: String]) throws(AdminFailure) -> SettingsFile? {
        if let option { return try SettingsFile(readingFrom: option) }
        if let path = variables[variable], !path.isEmpty { return try SettingsFile(readingFrom: path) }
        guard FileManager.default.fileExists(atPath: usualPath) else { return nil }
        return try SettingsFile(readingFrom: usualPath)
    }

    /// What names the file if `--config` does not.
    package static let variable = Setting.variable(of: "--config")

    /// - Throws: ``AdminFailure`` with each mistake on a line of its own, if there are any.
    package func check() throws(AdminFailure) {
        guard !problems.isEmpty else { return }
        let lines = problems.prefix(Self.problemsMax).map { $0.line(of: path) }
        let more = problems.count > lines.count ? ["There are \(problems.count - lines.count) more mistakes."] : []
        throw AdminFailure(.usage, (lines + more).joined(separator: "\n"))
    }

    // MARK: Reading

    private static func content(of path: String) throws(AdminFailure) -> (text: String, mode: Int) {
        let unreadable = AdminFailure(
            .usage, "The settings file \(path) cannot be read. Check that it exists, and who may read it.")
        let file = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        guard let facts = try? FileManager.default.attributesOfItem(atPath: file) else { throw unreadable }
        // A pipe or a device might never end.
        guard facts[.type] as? FileAttributeType == .typeRegular else {
            throw AdminFailure(.usage, "The settings file \(path) is not a regular file.")
        }
        guard let handle = FileHandle(forReadingAtPath: path) else { throw unreadable }
        defer { try? handle.close() }
        let data: Data
        do { data = try handle.read(upToCount: byteCountMax + 1) ?? Data() } catch { throw unreadable }
        guard data.count <= byteCountMax else {
            throw AdminFailure(.usage, "The settings file \(path) has more than \(byteCountMax) bytes.")
        }
        guard let text = String(validating: data, as: UTF8.self) else {
            throw AdminFailure(.usage, "The settings file \(path) is not text in UTF-8.")
        }
        return (text, facts[.posixPermissions] as? Int ?? 0o777)
    }

    private mutating func take(_ root: SettingsNode) {
        switch root.content {
        case .map(let entries): for entry in entries { take(entry) }
        // A file with nothing but "---" or comments.
        case .scalar("", isQuoted: false): return
        case .scalar, .list:
            problems.append(
                SettingsProblem(
                    place: root.place, text: "A settings file has a key and a value on each line, such as: loops: 2"))
        }
    }

    private mutating func take(_ entry: SettingsNode.Entry) {
        guard case .scalar(let key, _) = entry.key.content else {
            return problems.append(SettingsProblem(place: entry.key.place, text: "A key is a name, such as: loops"))
        }
        guard let setting = ServeSetting.find(key) else {
            return problems.append(SettingsProblem(place: entry.key.place, text: Self.unknown(key)))
        }
        if let before = values[key] {
            return problems.append(
                SettingsProblem(
                    place: entry.key.place,
                    text: "\(key) is set already in line \(before.place.line). Remove one of the two."))
        }
        do throws(SettingsProblem) {
            values[key] = try Self.value(entry.value, of: setting)
        } catch {
            problems.append(error)
        }
    }

    private static func value(
        _ node: SettingsNode, of setting: ServeSetting
    ) throws(SettingsProblem) -> Value {
        let text = try text(node, of: setting)
        if let problem = setting.problem(with: text) {
            throw SettingsProblem(place: node.place, text: "\(setting.key) \(problem).")
        }
        return Value(text: text, place: node.place)
    }

    private static func text(_ node: SettingsNode, of setting: ServeSetting) throws(SettingsProblem) -> String {
        func problem(_ text: String) -> SettingsProblem {
            SettingsProblem(place: node.place, text: "\(setting.key) \(text)")
        }
        switch node.content {
        case .scalar(let text, let isQuoted):
            guard !text.isEmpty, isQuoted || !["null", "~"].contains(text.lowercased()) else {
                throw problem("has no value. Give one, or remove the line.")
            }
            // A variable may say yes or 1. In a file there is one way to write it.
            if case .flag = setting.kind, !["true", "false"].contains(text) || isQuoted {
                throw problem("must be true or false, not \(ServeSetting.shown(text)).")
            }
            return text
        case .list(let nodes) where setting.takesList:
            var texts: [String] = []
            for node in nodes {
                guard case .scalar(let text, _) = node.content, !text.isEmpty, !text.contains(",") else {
                    throw SettingsProblem(place: node.place, text: "Each element of \(setting.key) is one text.")
                }
                texts.append(text)
            }
            guard !texts.isEmpty else { throw problem("has no value. Give one, or remove the line.") }
            return texts.joined(separator: ",")
        case .list: throw problem("takes one value, not a list.")
        case .map: throw problem("takes a value, not keys of its own.")
        }
    }

    private static func unknown(_ key: String) -> String {
        let guess = isolated(key)
        let nearest =
            ServeSetting.find(guess)?.key ?? NearestName.of(guess, among: ServeSetting.all.map(\.key).sorted())
        let shown = ServeSetting.shown(key)
        guard let nearest else {
            return "There is no setting \(shown). See what there is: tidemark admin config show"
        }
        return "There is no setting \(shown). Did you mean \(nearest)?"
    }

    /// What somebody means who writes `--log-level`, `TIDEMARK_LOG_LEVEL` or `logLevel`.
    private static func isolated(_ key: String) -> String {
        var name = ""
        for character in key.drop(while: { $0 == "-" }) {
            if character.isUppercase, let last = name.last, last.isLowercase || last.isNumber { name += "-" }
            name += character == "_" ? "-" : String(character)
        }
        name = name.lowercased()
        return name.hasPrefix("tidemark-") ? String(name.dropFirst("tidemark-".count)) : name
    }

    /// A password in a file that everybody may read is no secret.
    private mutating func checkSecrets(_ mode: Int) {
        for (key, value) in values where ServeSetting.find(key)?.isSecret == true {
            guard PostgresURL.hasPassword(value.text), mode & 0o007 != 0 else { continue }
            problems.append(
                SettingsProblem(
                    place: value.place,
                    text: "\(key) has a password, and everybody on this machine may read the file. Run: chmod 640 "
                        + "\(path). Or put the password into ~/.pgpass."))
        }
    }
}
