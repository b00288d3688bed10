// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

/// What a server is told of a command of `cktool`. The words are made anew from what was parsed, so that neither a token nor
/// anything else that means something on this machine alone is among them.
struct CKToolWords: Equatable, Sendable {
    private(set) var words: [String]
    /// The files of this machine that the server may ask for.
    private(set) var files: [String] = []

    init(_ verb: String) { words = [verb] }

    init(_ verb: String, in container: CKToolContainer) {
        self.init(verb)
        add("--container-id", container.containerID)
        add("--environment", container.environment.rawValue)
    }

    init(_ verb: String, in container: CKToolContainer, _ zone: CKToolZone) {
        self.init(verb, in: container)
        add("--database-type", zone.scopeName)
        add("--zone-name", zone.zoneName)
        if let owner = zone.ownerName { add("--owner-name", owner) }
    }

    /// Sign and value are one word, so that a value may begin with a hyphen.
    /// An empty value is a word of its own: after a sign of equality it would count as missing.
    mutating func add(_ option: String, _ value: String) {
        words += value.isEmpty ? [option, ""] : ["\(option)=\(value)"]
    }

    mutating func add(_ option: String, _ values: [String]) {
        for value in values { add(option, value) }
    }

    mutating func add(flag: String, if isSet: Bool) {
        if isSet { words.append(flag) }
    }

    mutating func add(_ option: String, file path: String) {
        add(option, path)
        files.append(path)
    }

    /// Standard input.
    mutating func addInput(flag: String) {
        words.append(flag)
        files.append("-")
    }

    /// A value of `--asset-files`. If it names no file, it is sent as it is, and refused there as it would be here.
    mutating func add(assetFile text: String, _ program: CKToolProgram) {
        guard let sign = text.firstIndex(of: "=") else { return add("--asset-files", text) }
        let path = program.path(String(text[text.index(after: sign)...]))
        add("--asset-files", "\(text[..<sign])=\(path)")
        files.append(path)
    }

    mutating func add(_ search: CKToolSearch) {
        if let type = search.recordType { add("--record-type", type) }
        add("--filters", search.filters)
    }
}

extension CKToolZone {
    /// As `--database-type` has it.
    fileprivate var scopeName: String {
        switch scope {
        case .private: "private"
        case .public: "public"
        case .shared: "shared"
        }
    }
}
