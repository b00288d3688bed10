// SPDX-License-Identifier: Apache-2.0

import Foundation
import TidemarkTestSupport

extension TokenSigner {
    /// Writes the file of `--issuers` into a directory, with the provider's keys beside it. Whoever has a token gets an account.
    ///
    /// - Parameter more: further members of the provider's object, such as `"trust-email":true`.
    /// - Returns: its path.
    func issuersFile(in directory: TestDirectory, _ more: String...) throws -> String {
        let (keysPath, path) = ("\(directory.path)/keys.json", "\(directory.path)/issuers.json")
        try Data(keys).write(to: URL(fileURLWithPath: keysPath))
        let members =
            [
                #""issuer":"\#(issuer)""#, #""audience":"\#(audience)""#, #""jwks-file":"\#(keysPath)""#,
                #""create-accounts":true"#, #""account-prefix":"example:""#,
            ] + more
        try Data("[{\(members.joined(separator: ","))}]".utf8).write(to: URL(fileURLWithPath: path))
        return path
    }
}
