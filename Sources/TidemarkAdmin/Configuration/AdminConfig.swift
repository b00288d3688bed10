// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Foundation

struct AdminConfig: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config", abstract: "The settings of a server: what they are, and where each is from.",
        subcommands: [Check.self, Show.self])

    static let columns: [Column<SettingRow>] = [
        Column("SETTING", key: "setting", isName: true) { .text($0.setting.key) },
        Column("VALUE", key: "value") { .optional($0.value) },
        Column("SOURCE", key: "source") { .text($0.source.rawValue) },
        Column("VARIABLE", key: "variable", wide: true) { .text($0.setting.variable) },
        Column("HELP", key: "help", wide: true) { .text($0.setting.abstract) },
        Column("PLACE", key: "place") { .optional($0.place) },
    ]

    struct Check: LocalCommand {
        static let configuration = CommandConfiguration(
            "check", abstract: "Check a settings file, without starting a server.",
            discussion: """
                Each mistake is told with its line and column, and ends the command with status 1. What two settings say \
                together, and whether files and addresses exist, is checked when a server starts.
                """,
            examples: "tidemark admin config check /etc/tidemark/tidemark.yaml")

        @Argument(help: "The settings file, in YAML or JSON.") var file: String
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen) async throws {
            let settings = try SettingsFile(readingFrom: file)
            try AdminConfig.tell(settings.problems.map { $0.line(of: file) }, screen)
            screen.say("\(file): \(settings.values.count) settings, no mistakes.")
        }
    }

    struct Show: LocalCommand {
        static let configuration = CommandConfiguration(
            "show", abstract: "Show each setting with its value, and where the value is from.",
            discussion: """
                It shows what `tidemark serve` would use if it was started here, now, by whoever runs the command: options \
                after --, then variables, then the settings file, then the default. A password in the database's URL is \
                hidden. Mistakes are told as well, and end the command with status 1.
                """,
            examples: "tidemark admin config show",
            "tidemark admin config show --config tidemark.yaml -o json -- --loops 4")

        @Option(
            help: ArgumentHelp(
                "The settings file.",
                discussion: "Or TIDEMARK_CONFIG. Default: \(SettingsFile.usualPath), if it exists.", valueName: "file"))
        var config: String?
        @Argument(
            parsing: .postTerminator, help: ArgumentHelp("Options of tidemark serve.", valueName: "serve-options"))
        var serveOptions: [String] = []
        @OptionGroup(title: "Options of all commands") var options: AdminOptions

        func run(_ screen: Screen) async throws {
            let variables = ProcessInfo.processInfo.environment
            let flags = try ServeFlags(serveOptions)
            let file = try SettingsFile.chosen(flags.config ?? config, variables: variables)
            let sources = SettingSources(variables: variables, file: file)
            let rows = ServeSetting.all.map { SettingRow($0, sources.found(flags.values[$0.key], $0)) }
            try await screen.show(rows, as: AdminConfig.columns)
            let ofFile = file.map { file in file.problems.map { $0.line(of: file.path) } } ?? []
            try AdminConfig.tell(ofFile + rows.compactMap(\.problem), screen)
        }
    }

    /// Ends the command if there are mistakes.
    private static func tell(_ problems: [String], _ screen: Screen) throws(AdminFailure) {
        guard !problems.isEmpty else { return }
        for problem in problems { screen.say(problem) }
        let count = problems.count == 1 ? "1 mistake" : "\(problems.count) mistakes"
        throw AdminFailure(.failedCheck, "\(count). A server does not start with these settings. Correct them.")
    }
}

/// A setting as operators see it.
struct SettingRow: Sendable {
    /// Where a value is from.
    enum Source: String, Sendable {
        case flag, variable, file
        case standard = "default"
    }

    let setting: ServeSetting
    /// Without a password. Nil: there is none.
    let value: String?
    let source: Source
    /// The flag, the variable, or file and line; nil for a default.
    let place: String?
    /// What is wrong with it. A file has its own problems.
    let problem: String?

    init(_ setting: ServeSetting, _ found: FoundSetting?) {
        self.setting = setting
        value = found.map { Self.shown($0.text, of: setting) } ?? setting.standard
        let isFile: Bool
        switch found?.origin {
        case nil, .standard?: (source, place, isFile) = (.standard, nil, false)
        case .flag?: (source, place, isFile) = (.flag, setting.flag, false)
        case .variable?: (source, place, isFile) = (.variable, setting.variable, false)
        case .file(let path, let at)?: (source, place, isFile) = (.file, "\(path):\(at.line)", true)
        }
        let wrong = isFile ? nil : found.flatMap { setting.problem(with: $0.text) }
        let name = place ?? setting.flag
        problem = wrong.map { "\(name) \($0)." }
    }

    private static func shown(_ text: String, of setting: ServeSetting) -> String {
        setting.isSecret ? Redaction.databaseURL(text) : text.inOneLine
    }
}

/// Options of `tidemark serve` as words.
struct ServeFlags: Sendable, Equatable {
    /// By the settings' keys.
    private(set) var values: [String: String] = [:]
    /// The file of `--config`.
    private(set) var config: String?

    /// - Throws: ``AdminFailure`` if `serve` has no such option.
    init(_ words: [String]) throws(AdminFailure) {
        var words = words[...]
        while let word = words.popFirst() {
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard word.hasPrefix("--"), let name = parts.first else {
                throw AdminFailure(.usage, "After -- come options of tidemark serve, not \(ServeSetting.shown(word)).")
            }
            let key = String(name.dropFirst(2))
            if let setting = ServeSetting.find(key), case .flag = setting.kind {
                guard parts.count == 1 else { throw AdminFailure(.usage, "\(name) takes no value.") }
                values[key] = "true"
                continue
            }
            guard key == "config" || ServeSetting.find(key) != nil else {
                throw AdminFailure(
                    .usage, "tidemark serve has no option \(ServeSetting.shown(name)). See: tidemark serve --help")
            }
            guard let value = parts.count == 2 ? parts[1] : words.popFirst() else {
                throw AdminFailure(.usage, "\(name) needs a value.")
            }
            take(value, of: key)
        }
    }

    private mutating func take(_ value: String, of key: String) {
        guard key != "config" else { return config = value }
        let before = values[key].flatMap { ServeSetting.find(key)?.takesList == true ? $0 + "," : nil } ?? ""
        values[key] = before + value
    }
}
