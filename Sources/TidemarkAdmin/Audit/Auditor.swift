// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import TidemarkDomain
internal import TidemarkStore

/// Carries out commands, and writes those that may change something to the audit: before they act, and what became
/// of them. If that cannot be written, nothing is done.
enum Auditor {
    static func run(_ command: any AdminCommand, on console: Console) async throws {
        guard let action = action(command, by: console.operatorIdentity), !console.isDryRun else {
            return try await command.run(console)
        }
        let id = try await console.store.beginAudit(action)
        do {
            try await command.run(console)
        } catch let end as CommandEnd {
            try await console.store.endAudit(id, failure: nil)
            throw end
        } catch {
            try await console.store.endAudit(id, failure: AdminFailure(error).description)
            throw error
        }
        try await console.store.endAudit(id, failure: nil)
    }

    /// Nil if the command only reads.
    static func action(_ command: any AdminCommand, by identity: OperatorIdentity) -> AuditAction? {
        guard type(of: command).role > .viewer else { return nil }
        let words = words(of: type(of: command), in: Admin.self) ?? [type(of: command)._commandName]
        return AuditAction(
            who: identity.name, address: identity.address, action: words.joined(separator: " "),
            target: arguments(of: command).joined(separator: " "))
    }

    /// The names that lead from a command to one below it; nil if none leads there.
    static func words(of command: any ParsableCommand.Type, in root: any ParsableCommand.Type) -> [String]? {
        for next in root.configuration.subcommands {
            if ObjectIdentifier(next) == ObjectIdentifier(command) { return [next._commandName] }
            if let words = words(of: command, in: next) { return [next._commandName] + words }
        }
        return nil
    }

    /// The values of a command's arguments in their order. Options are left out: they may be secrets.
    static func arguments(of command: Any) -> [String] {
        Mirror(reflecting: command).children.flatMap { child in
            (child.value as? any AuditedArgument)?.auditTexts ?? []
        }
    }
}

/// An argument whose value the audit keeps.
private protocol AuditedArgument {
    var auditTexts: [String] { get }
}

extension OptionGroup: AuditedArgument {
    fileprivate var auditTexts: [String] { Auditor.arguments(of: wrappedValue) }
}

extension Argument: AuditedArgument {
    fileprivate var auditTexts: [String] { Self.texts(of: wrappedValue) }

    private static func texts(of value: Any) -> [String] {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional, .collection: return mirror.children.flatMap { texts(of: $0.value) }
        default: return ["\(value)"]
        }
    }
}
