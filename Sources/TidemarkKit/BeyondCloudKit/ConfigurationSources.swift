// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Where a configuration comes from unless code sets it: first environment variables, then `tidemark.json`.
struct ConfigurationSources: Sendable {
    var variables: [String: String]
    var file: Result<ConfigurationFile?, ConfigurationFault> = .success(nil)
    /// The paths of possible files, for a text that explains why something is not configured.
    var filePaths: [String] = []

    /// The sources of this process, in their current state.
    static func ofProcess() -> ConfigurationSources {
        var sources = ConfigurationSources(variables: ProcessInfo.processInfo.environment)
        sources.filePaths = ConfigurationFile.directories.map { $0.appendingPathComponent(ConfigurationFile.name).path }
        do throws(ConfigurationFault) {
            sources.file = .success(try ConfigurationFile.ofProcess())
        } catch {
            sources.file = .failure(error)
        }
        return sources
    }

    /// - Parameter container: the container to be configured; nil for the default container.
    func configuration(for container: String? = nil) -> TidemarkConfiguration {
        do throws(ConfigurationFault) {
            return try resolved(for: container)
        } catch {
            var configuration = TidemarkConfiguration(url: nil)
            configuration.fault = error.text
            return configuration
        }
    }

    private func resolved(for container: String?) throws(ConfigurationFault) -> TidemarkConfiguration {
        let file = try file.get()
        let defaultContainer =
            value("TIDEMARK_CONTAINER") ?? file?.container ?? TidemarkConfiguration.fallbackContainerIdentifier
        let fileSettings = file?.settings(of: container ?? defaultContainer) ?? .init()
        let settings = try ofEnvironment().merged(over: fileSettings)
        var configuration = TidemarkConfiguration(
            url: settings.url, token: settings.token, certificateAuthorityFile: settings.ca,
            defaultContainerIdentifier: defaultContainer, environment: settings.environment ?? .development,
            assetDirectory: settings.assets, credentialFile: settings.credentialFile, keyFile: settings.keyFile,
            requiresEndToEndEncryption: settings.endToEnd ?? false)
        configuration.tokenSources = tokenSources(file, hasToken: fileSettings.token != nil)
        return configuration
    }

    /// The reason why there is no token, if there is none.
    private func tokenSources(_ file: ConfigurationFile?, hasToken: Bool) -> String {
        let variable = "TIDEMARK_TOKEN is \(variables["TIDEMARK_TOKEN"] == nil ? "not set" : "empty")"
        let inFile: String? =
            if let file {
                hasToken
                    ? "the token in \(file.path) is not for the server of TIDEMARK_URL" : "\(file.path) has no token"
            } else {
                filePaths.isEmpty ? nil : "there is no \(filePaths.joined(separator: ", and no "))"
            }
        return [variable, inFile].compactMap(\.self).joined(separator: "; ")
    }

    private func ofEnvironment() throws(ConfigurationFault) -> ConfigurationFile.Settings {
        var settings = ConfigurationFile.Settings()
        if let text = value("TIDEMARK_URL") {
            guard let url = URL(string: text), url.scheme != nil else {
                throw ConfigurationFault("TIDEMARK_URL must be a URL such as wss://host:port, not \(text).")
            }
            settings.url = url
        }
        settings.token = value("TIDEMARK_TOKEN")
        settings.ca = value("TIDEMARK_CA")
        if let text = value("TIDEMARK_ENVIRONMENT") {
            guard let environment = TidemarkConfiguration.Environment(rawValue: text) else {
                throw ConfigurationFault("TIDEMARK_ENVIRONMENT must be development or production, not \(text).")
            }
            settings.environment = environment
        }
        settings.assets = value("TIDEMARK_ASSETS").map { URL(fileURLWithPath: $0, isDirectory: true) }
        settings.credentialFile = value("TIDEMARK_CREDENTIAL_FILE").map { URL(fileURLWithPath: $0) }
        settings.keyFile = value("TIDEMARK_KEY_FILE").map { URL(fileURLWithPath: $0) }
        switch value("TIDEMARK_END_TO_END") {
        case nil: break
        case "1", "true": settings.endToEnd = true
        case "0", "false": settings.endToEnd = false
        // A wrong word must not turn it off.
        case let text?: throw ConfigurationFault("TIDEMARK_END_TO_END must be 1 or 0, not \(text).")
        }
        return settings
    }

    /// An empty variable counts as unset.
    private func value(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }
}
