// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain

extension ContainerEnvironment {
    /// The name in the option.
    var name: String {
        switch self {
        case .development: EnvironmentName.development.rawValue
        case .production: EnvironmentName.production.rawValue
        }
    }
}

/// The environment of a container.
struct EnvironmentOption: ParsableArguments {
    @Option(help: ArgumentHelp("development or production.", valueName: "environment"))
    var environment = EnvironmentName.development

    func key(_ identifier: String) throws(CommandError) -> ContainerKey {
        try environment.key(identifier)
    }
}

extension EnvironmentName {
    /// - Throws: ``CommandError`` for an invalid identifier.
    func key(_ identifier: String) throws(CommandError) -> ContainerKey {
        let name = identifier.utf8
        guard (1...255).contains(name.count), name.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw CommandError("A container's identifier is 1 to 255 printable ASCII characters without spaces.")
        }
        return ContainerKey(identifier: identifier, environment: value)
    }
}
