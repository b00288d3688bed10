// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkService
internal import TidemarkStore
internal import TidemarkTelemetry

/// Carries out commands, and writes those that may change something, or give away all that a user has, to the audit:
/// before they act, and what became of them. If that cannot be written, nothing is done.
enum Auditor {
    static func run(_ command: any AdminCommand, on console: Console) async throws {
        // Over a server it is refused, and that is in the audit.
        let auditsItself = type(of: command).auditsItself && console.screen.hasLocalFiles
        let action = console.isDryRun || auditsItself ? nil : action(command, by: console.operatorIdentity)
        try await run(action, on: console, keeping: { withoutPersons($0, of: command) }) {
            try await command.run(console)
        }
    }

    /// Does what `body` does, as the operator's command of the console: what it writes and logs has its UUID.
    ///
    /// - Parameters:
    ///   - action: nil if it only reads.
    ///   - kept: what the audit keeps of a failure's text.
    static func run(
        _ action: AuditAction?, on console: Console, keeping kept: (String) -> String = { $0 },
        _ body: () async throws -> Void
    ) async throws {
        if console.screen.isDebugging { console.say("-- request \(console.command)") }
        try await RequestTrace.$current.withValue(RequestTrace(console.command)) {
            try await carryOut(action, on: console, keeping: kept, body)
        }
    }

    private static func carryOut(
        _ action: AuditAction?, on console: Console, keeping kept: (String) -> String, _ body: () async throws -> Void
    ) async throws {
        guard let action else { return try await body() }
        let id = try await console.store.beginAudit(action, of: ChangeCause(console.command))
        do {
            try await body()
        } catch let end as CommandEnd {
            // Whoever cuts off a command does not know how far it came: it stays begun.
            guard !Task.isCancelled else { throw end }
            try await console.store.endAudit(id, failure: nil)
            throw end
        } catch {
            guard !Task.isCancelled else { throw error }
            try await console.store.endAudit(id, failure: kept(AdminFailure(error).description))
            throw error
        }
        try await console.store.endAudit(id, failure: nil)
    }

    /// Writes that a command was not carried out, because its sender may not give it. With `--dry-run` too: somebody tried.
    static func refuse(_ command: any AdminCommand, on console: Console, _ failure: AdminFailure) async throws {
        guard let action = action(command, by: console.operatorIdentity) else { return }
        if console.screen.isDebugging { console.say("-- request \(console.command)") }
        let id = try await console.store.beginAudit(action, of: ChangeCause(console.command))
        try await console.store.endAudit(id, failure: failure.description)
    }

    /// Nil if the command only reads some things.
    static func action(_ command: any AdminCommand, by identity: OperatorIdentity) -> AuditAction? {
        guard type(of: command).role > .viewer || type(of: command).readsAllData else { return nil }
        // In the name and not in the target, which is forgotten with an account.
        let action = name(of: type(of: command)) + (command.opensKeys ? " \(keysOpened)" : "")
        return AuditAction(
            who: identity.name, address: identity.address, action: action,
            target: arguments(of: command).joined(separator: " "))
    }

    /// A command's nouns and its verb.
    static func name(of command: any AdminCommand.Type) -> String {
        (words(of: command, in: Admin.self) ?? [command._commandName]).joined(separator: " ")
    }

    /// The names that lead from a command to one below it; nil if none leads there.
    static func words(of command: any ParsableCommand.Type, in root: any ParsableCommand.Type) -> [String]? {
        for next in root.configuration.subcommands {
            if ObjectIdentifier(next) == ObjectIdentifier(command) { return [next._commandName] }
            if let words = words(of: command, in: next) { return [next._commandName] + words }
        }
        return nil
    }

    /// The values of a command's arguments in their order. Options are left out: they may be secrets. What names a person is
    /// left out as well, because the audit outlives what is deleted.
    static func arguments(of command: Any) -> [String] {
        values(of: command).map { $0 is any PersonalArgument ? withheld : "\($0)" }
    }

    /// A failure's text without what names a person.
    static func withoutPersons(_ text: String, of command: Any) -> String {
        values(of: command).reduce(text) { text, value in
            guard let person = value as? any PersonalArgument else { return text }
            return text.replacing(person.personalText, with: withheld)
        }
    }

    private static let withheld = "(address)"
    /// Comes after the verb. Whoever has what the command wrote can read encrypted values.
    private static let keysOpened = "(opens keys)"

    fileprivate static func values(of command: Any) -> [Any] {
        Mirror(reflecting: command).children.flatMap { child in
            (child.value as? any AuditedArgument)?.auditedValues ?? []
        }
    }
}

/// An argument that names a person, such as a mail address. The audit does not keep it.
protocol PersonalArgument {
    /// As messages show it.
    var personalText: String { get }
}

/// An argument whose value the audit keeps.
private protocol AuditedArgument {
    var auditedValues: [Any] { get }
}

extension OptionGroup: AuditedArgument {
    fileprivate var auditedValues: [Any] { Auditor.values(of: wrappedValue) }
}

extension Argument: AuditedArgument {
    fileprivate var auditedValues: [Any] { Self.values(in: wrappedValue) }

    private static func values(in value: Any) -> [Any] {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional, .collection: return mirror.children.flatMap { values(in: $0.value) }
        default: return [value]
        }
    }
}
