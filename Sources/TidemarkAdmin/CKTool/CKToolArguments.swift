// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain

/// Options of commands that talk to a service. Apple's tool has them, and so do its scripts.
struct CKToolAccess: ParsableArguments, Sendable {
    @Option(
        name: [.customShort("t"), .customLong("token")],
        help: ArgumentHelp(
            "The token. Default: the variable of its kind, or what save-token stored.", valueName: "token"))
    var token: String?

    @Option(
        name: .customLong("team-id"),
        help: ArgumentHelp("Without meaning: here are no teams.", valueName: "team-id"))
    var teamID: String?
}

/// The container, in an environment.
struct CKToolContainer: ParsableArguments, Sendable {
    @Option(name: .customLong("container-id"), help: ArgumentHelp("The container's identifier.", valueName: "id"))
    var containerID: String

    @Option(
        help: ArgumentHelp("development or production.", valueName: "environment"),
        transform: CKToolContainer.environment)
    var environment: EnvironmentName

    var place: CKToolPlace { CKToolPlace(container: containerID, environment: environment) }

    /// Apple's tool takes it in any case.
    static func environment(_ text: String) throws -> EnvironmentName {
        guard let name = EnvironmentName(rawValue: text.lowercased()) else {
            throw ValidationError("--environment is development or production, not \(text).")
        }
        return name
    }
}

/// A zone of one of the container's databases.
struct CKToolZone: ParsableArguments, Sendable {
    @Option(
        name: .customLong("database-type"),
        help: ArgumentHelp("public, private or shared.", valueName: "type"), transform: CKToolZone.scope)
    var scope: DatabaseScope

    @Option(name: .customLong("zone-name"), help: ArgumentHelp("The zone.", valueName: "zone"))
    var zoneName = ZoneName.default

    @Option(
        name: .customLong("owner-name"),
        help: ArgumentHelp(
            "The record name of the user to whom the zone belongs. Needed in the shared database.", valueName: "user"))
    var ownerName: String?

    /// Apple's tool takes it in any case.
    static func scope(_ text: String) throws -> DatabaseScope {
        switch text.lowercased() {
        case "public": return .public
        case "private": return .private
        case "shared": return .shared
        default: throw ValidationError("--database-type is public, private or shared, not \(text).")
        }
    }
}
