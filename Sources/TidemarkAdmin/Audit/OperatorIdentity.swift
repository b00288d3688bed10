// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Who gives a command, for the audit.
package struct OperatorIdentity: Sendable, Equatable {
    package let name: String
    /// From where a server was told the command; empty for a program that talks to the database.
    package let address: String

    package init(name: String, address: String = "") {
        self.name = name
        self.address = address
    }

    /// The user of the operating system who runs this process, and who became that user by `sudo`.
    ///
    /// - Parameter variables: of the environment.
    package static func ofProcess(variables: [String: String]) -> OperatorIdentity {
        let id = getuid()
        let user = getpwuid(id).map { String(cString: $0.pointee.pw_name) } ?? "user \(id)"
        guard let caller = variables["SUDO_USER"], !caller.isEmpty, caller != user else {
            return OperatorIdentity(name: user)
        }
        return OperatorIdentity(name: "\(user), \(caller) by sudo")
    }
}
