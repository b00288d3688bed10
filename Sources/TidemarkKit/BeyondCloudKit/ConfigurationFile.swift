// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// The content of `tidemark.json`.
///
/// ```json
/// {
///     "url": "wss://sync.example.org", "token": "…", "ca": "ca.pem", "container": "iCloud.org.example.notes",
///     "containers": { "iCloud.org.example.archive": { "token": "…" } }
/// }
/// ```
/// All keys are optional. An entry of `containers` holds for that container alone, and wins over the values above. An
/// entry with a `url` has its own `token` and `ca`, or none. Paths are relative to the file's directory.
struct ConfigurationFile: Sendable {
    static let name = "tidemark.json"

    /// Settings that a file can have for all containers, or for one.
    struct Settings: Sendable {
        var url: URL?
        var token: String?
        var ca: String?
        var environment: TidemarkConfiguration.Environment?
        var assets: URL?
        var credentialFile: URL?
        var keyFile: URL?
        var endToEnd: Bool?

        /// These settings, with the others' values where these have none. Settings that name a server do not take the
        /// others' token and authority. They would be sent to, or trusted for, a server for which nobody meant them.
        func merged(over other: Settings) -> Settings {
            Settings(
                url: url ?? other.url, token: token ?? (url == nil ? other.token : nil),
                ca: ca ?? (url == nil ? other.ca : nil),
                environment: environment ?? other.environment, assets: assets ?? other.assets,
                credentialFile: credentialFile ?? other.credentialFile, keyFile: keyFile ?? other.keyFile,
                endToEnd: endToEnd ?? other.endToEnd)
        }
    }

    let path: String
    private(set) var settings = Settings()
    /// The identifier of `CKContainer.default()`.
    private(set) var container: String?
    private var containers: [String: Settings] = [:]

    /// - Parameter directory: the directory of the file.
    init(json: Data, in directory: URL) throws(ConfigurationFault) {
        path = directory.appendingPathComponent(Self.name).path
        let object: Any
        do {
            object = try JSONSerialization.jsonObject(with: json)
        } catch {
            throw ConfigurationFault("\(Self.name) is not JSON: \(Self.reason(error))")
        }
        guard var top = object as? [String: Any] else {
            throw ConfigurationFault("\(Self.name) is not a JSON object. Write { before its keys and } behind them.")
        }
        let container = top.removeValue(forKey: "container")
        let containers = top.removeValue(forKey: "containers")
        settings = try Self.settings(top, at: "", alsoKnown: ["container", "containers"], in: directory)
        if let container {
            self.container = try Self.text(container, "container")
        }
        guard let containers else { return }
        guard let entries = containers as? [String: Any] else { throw Self.wrong("containers", "an object") }
        for (name, entry) in entries {
            guard let entry = entry as? [String: Any] else { throw Self.wrong("containers.\(name)", "an object") }
            self.containers[name] = try Self.settings(entry, at: "containers.\(name).", in: directory)
        }
    }

    func settings(of container: String) -> Settings {
        containers[container]?.merged(over: settings) ?? settings
    }

    // MARK: Where it is

    /// Beside the program, otherwise in the working directory.
    static func ofProcess() throws(ConfigurationFault) -> ConfigurationFile? { try first(in: directories) }

    /// In the order of search, each once.
    static var directories: [URL] {
        let working = URL(fileURLWithPath: FileManager.default.currentDirectoryPath, isDirectory: true)
        guard let program = programDirectory, program.standardizedFileURL.path != working.standardizedFileURL.path
        else {
            return [working]
        }
        return [program, working]
    }

    private static var programDirectory: URL? {
        #if os(Linux)
            // Costs one system call. The main bundle would look at all files beside the program.
            let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            return program.map { URL(fileURLWithPath: $0).deletingLastPathComponent() }
        #else
            return Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
        #endif
    }

    /// The first file that exists; nil if there is none.
    static func first(in directories: [URL]) throws(ConfigurationFault) -> ConfigurationFile? {
        for directory in directories {
            let path = directory.appendingPathComponent(name).path
            guard FileManager.default.fileExists(atPath: path) else { continue }
            guard let json = FileManager.default.contents(atPath: path) else {
                throw ConfigurationFault("\(path) cannot be read. Let the user of this program read it.")
            }
            return try ConfigurationFile(json: json, in: directory)
        }
        return nil
    }

    // MARK: Parts

    private static let keys = ["assets", "ca", "credentialFile", "endToEnd", "environment", "keyFile", "token", "url"]

    private static func settings(
        _ object: [String: Any], at place: String, alsoKnown: [String] = [], in directory: URL
    ) throws(ConfigurationFault) -> Settings {
        // In order, so that of several mistakes always the same one is reported.
        for key in object.keys.sorted() where !keys.contains(key) {
            let known = (keys + alsoKnown).sorted().joined(separator: ", ")
            throw ConfigurationFault("\(name): the key \(place)\(key) is not known. Known are \(known).")
        }
        var settings = Settings()
        func path(_ value: Any, _ key: String) throws(ConfigurationFault) -> URL {
            URL(fileURLWithPath: try text(value, place + key), relativeTo: directory).absoluteURL
        }
        if let url = object["url"] { settings.url = try Self.url(url, place + "url") }
        if let token = object["token"] { settings.token = try text(token, place + "token") }
        if let ca = object["ca"] { settings.ca = try path(ca, "ca").path }
        if let environment = object["environment"] {
            guard let known = (environment as? String).flatMap(TidemarkConfiguration.Environment.init(rawValue:)) else {
                throw wrong(place + "environment", "\"development\" or \"production\"")
            }
            settings.environment = known
        }
        if let assets = object["assets"] { settings.assets = try path(assets, "assets") }
        if let file = object["credentialFile"] { settings.credentialFile = try path(file, "credentialFile") }
        if let keyFile = object["keyFile"] { settings.keyFile = try path(keyFile, "keyFile") }
        if let endToEnd = object["endToEnd"] {
            guard let flag = endToEnd as? Bool else { throw wrong(place + "endToEnd", "true or false") }
            settings.endToEnd = flag
        }
        return settings
    }

    private static func text(_ value: Any, _ key: String) throws(ConfigurationFault) -> String {
        guard let text = value as? String, !text.isEmpty else { throw wrong(key, "a string that is not empty") }
        return text
    }

    private static func url(_ value: Any, _ key: String) throws(ConfigurationFault) -> URL {
        guard let url = URL(string: try text(value, key)), url.scheme != nil else {
            throw wrong(key, "a URL such as wss://host:port")
        }
        return url
    }

    private static func wrong(_ key: String, _ expected: String) -> ConfigurationFault {
        ConfigurationFault("\(name): \(key) must be \(expected).")
    }

    private static func reason(_ error: any Error) -> String {
        (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
    }
}

/// A mistake in a configuration: a sentence for the person who has to correct it.
struct ConfigurationFault: Error, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }
}
