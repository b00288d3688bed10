// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import TidemarkBytes
internal import TidemarkCrypto
internal import TidemarkDomain
internal import TidemarkTransport

/// Reads the file of `--issuers`: a JSON list of identity providers (deploy/README.md).
package enum IssuersFile {
    /// A mistake in the file, with its place and the correct text.
    package struct Mistake: Error, Equatable, CustomStringConvertible {
        /// From 1; 0: the file as a whole.
        package let line: Int
        package let text: String

        package var description: String { line == 0 ? text : "line \(line): \(text)" }
    }

    package static let bytesMax = 262_144
    /// A server has few providers, and each is fetched from in the background.
    package static let issuersMax = 32
    private static let rolesMax = 64

    /// The providers of a file.
    package static func load(_ path: String) throws(Mistake) -> [Issuer] {
        guard let bytes = SmallFile.read(path, bytesMax: bytesMax) else {
            throw Mistake(
                line: 0,
                text:
                    "The file cannot be read, or has more than \(bytesMax) bytes. Check its name, and who may read it.")
        }
        return try read(bytes)
    }

    /// The providers of a file with these bytes.
    package static func read(_ bytes: [UInt8]) throws(Mistake) -> [Issuer] {
        let value: JSONValue
        do {
            value = try JSONReader.read(bytes)
        } catch {
            throw Mistake(line: error.line, text: "This is no JSON: \(error.code.rawValue).")
        }
        guard let list = value.list, !list.isEmpty else {
            throw Mistake(line: 1, text: "The file must be a list of providers: [{\"issuer\": \"https://…\", …}].")
        }
        guard list.count <= issuersMax else {
            throw Mistake(line: 1, text: "The list has more than \(issuersMax) providers.")
        }
        var issuers: [Issuer] = []
        for entry in list {
            guard let object = entry.object else { throw Mistake(line: 1, text: "Each provider must be an object.") }
            let issuer = try IssuerEntry(object: object).issuer()
            if issuers.contains(where: { TokenRules.isSame($0.name, issuer.name) }) {
                throw Mistake(line: object.line, text: "The issuer \(issuer.name) is listed twice.")
            }
            issuers.append(issuer)
        }
        return issuers
    }

    /// One provider of the list.
    private struct IssuerEntry {
        let object: JSONMembers

        private static let members = [
            "issuer", "audience", "jwks", "jwks-file", "algorithms", "create-accounts", "account-prefix", "trust-email",
            "trust-phone", "roles", "ca",
        ]

        func issuer() throws(Mistake) -> Issuer {
            try checkNames(of: object, Self.members)
            guard let name = try text("issuer") else { throw missing("issuer", "the URL that the tokens name as iss") }
            guard let audiences = try texts("audience"), !audiences.isEmpty else {
                throw missing("audience", "what the tokens name as aud, one or a list")
            }
            let prefix = try text("account-prefix") ?? ""
            // The rest of a name is at most 128 bytes.
            guard prefix.utf8.count <= 64, prefix.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                !prefix.hasPrefix("-")
            else {
                throw wrong(
                    "account-prefix", "at most 64 printable ASCII characters without spaces, and no - at the beginning")
            }
            return Issuer(
                name: name, keys: try keys(name), audiences: audiences, algorithms: try algorithms(),
                createsAccounts: try flag("create-accounts"), accountPrefix: prefix,
                trustsEmail: try flag("trust-email"), trustsPhone: try flag("trust-phone"), roles: try roles(),
                authorityFile: try text("ca"))
        }

        private func keys(_ name: String) throws(Mistake) -> Issuer.Keys {
            let (url, file) = (try text("jwks"), try text("jwks-file"))
            if url != nil, file != nil { throw wrong("jwks-file", "left out, because there is a jwks too") }
            if let file { return .file(file) }
            if let url { return .url(try address(url, "jwks")) }
            // OpenID Connect Discovery §4.1: a slash at the end goes before.
            let base = name.hasSuffix("/") ? String(name.dropLast()) : name
            return .discovered(try address(base + "/.well-known/openid-configuration", "issuer"))
        }

        private func address(_ url: String, _ member: String) throws(Mistake) -> HTTPAddress {
            do {
                return try HTTPAddress(url)
            } catch {
                switch error {
                case .malformed: throw wrong(member, "an https URL")
                case .plainBeyondLoopback: throw wrong(member, "an https URL; http is for this machine alone")
                }
            }
        }

        private func algorithms() throws(Mistake) -> [SignatureAlgorithm] {
            guard let names = try texts("algorithms") else { return SignatureAlgorithm.allCases }
            let found = names.compactMap { SignatureAlgorithm(rawValue: $0) }
            guard found.count == names.count, !found.isEmpty else {
                throw wrong("algorithms", "a list of RS256, ES256 and EdDSA")
            }
            return found
        }

        private func roles() throws(Mistake) -> Issuer.Roles? {
            guard let member = object.member("roles") else { return nil }
            guard let roles = member.value.object else {
                throw wrong("roles", "an object with claim, values and containers")
            }
            try checkNames(of: roles, ["claim", "values", "containers"])
            let entry = IssuerEntry(object: roles)
            guard let claim = try entry.texts("claim"), (1...8).contains(claim.count) else {
                throw entry.missing("claim", "the name of a claim, or a list of names from the outside to the inside")
            }
            guard let containers = try entry.texts("containers"), !containers.isEmpty else {
                throw entry.missing("containers", "a list of containers")
            }
            guard let values = roles["values"]?.object, (1...rolesMax).contains(values.members.count) else {
                throw entry.missing("values", "an object: each value of the claim with the role that it gives")
            }
            var byValue: [String: String] = [:]
            for value in values.members {
                guard let role = value.value.text, !role.isEmpty else {
                    throw Mistake(line: value.line, text: "\(value.name) must have the name of a role.")
                }
                byValue[value.name] = role
            }
            return Issuer.Roles(claim: claim, byValue: byValue, containers: containers)
        }

        // MARK: Members

        private func checkNames(of object: JSONMembers, _ known: [String]) throws(Mistake) {
            for member in object.members where !known.contains(where: { TokenRules.isSame($0, member.name) }) {
                let near = NearestName.of(member.name, among: known).map { " Did you mean \($0)?" } ?? ""
                throw Mistake(
                    line: member.line,
                    text: "There is no member \(member.name).\(near) There are: "
                        + known.joined(separator: ", ") + ".")
            }
        }

        private func missing(_ name: String, _ what: String) -> Mistake {
            object.member(name) == nil
                ? Mistake(line: object.line, text: "\(name) is missing: \(what).") : wrong(name, what)
        }

        private func wrong(_ name: String, _ what: String) -> Mistake {
            Mistake(line: object.member(name)?.line ?? object.line, text: "\(name) must be \(what).")
        }

        /// Not empty.
        private func text(_ name: String) throws(Mistake) -> String? {
            guard let value = object[name] else { return nil }
            guard let text = value.text, (1...2_048).contains(text.utf8.count) else { throw wrong(name, "a text") }
            return text
        }

        /// One text counts as a list of one.
        private func texts(_ name: String) throws(Mistake) -> [String]? {
            guard let value = object[name] else { return nil }
            if value.text != nil { return [try text(name) ?? ""] }
            guard let list = value.list, list.count <= 64 else { throw wrong(name, "a text, or a list of texts") }
            let texts = list.compactMap(\.text)
            guard texts.count == list.count, texts.allSatisfy({ !$0.isEmpty }) else {
                throw wrong(name, "a text, or a list of texts")
            }
            return texts
        }

        private func flag(_ name: String) throws(Mistake) -> Bool {
            guard let value = object[name] else { return false }
            guard let flag = value.flag else { throw wrong(name, "true or false") }
            return flag
        }
    }
}

/// Files of settings, read as a whole.
enum SmallFile {
    /// Nil: it cannot be read, or has more bytes.
    static func read(_ path: String, bytesMax: Int) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: bytesMax + 1)
        var count = 0
        while count < bytes.count {
            let (start, room) = (count, bytes.count - count)
            let got = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress.map { $0 + start }, room) }
            guard got >= 0 else { return nil }
            guard got > 0 else { return Array(bytes[..<count]) }
            count += got
        }
        return nil
    }
}
