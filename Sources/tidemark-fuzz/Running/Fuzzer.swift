// SPDX-License-Identifier: Apache-2.0

internal import TidemarkDomain

extension Limits {
    /// The limits of all fuzzers.
    static let ofFuzzers = Limits()
}

/// One kind of input that comes from outside, and what must hold for every such input.
struct Fuzzer: Sendable {
    let name: String
    /// Inputs that are accepted, and between them reach what there is to reach.
    let seeds: @Sendable () -> [[UInt8]]
    /// Tries one input; throws what is wrong with the code under test. True if the input was accepted as valid.
    ///
    /// A trap is a finding too. The same input always does the same.
    let body: @Sendable (_ input: [UInt8]) throws(Finding) -> Bool
}

/// A promise of the code under test that an input breaks.
struct Finding: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Throws unless `condition` holds.
    static func unless(
        _ condition: Bool, _ description: @autoclosure () -> String
    ) throws(Finding) {
        guard condition else { throw Finding(description()) }
    }
}
