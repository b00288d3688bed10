// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser

/// The form of a command's data.
package enum OutputFormat: String, Sendable, CaseIterable, ExpressibleByArgument {
    /// Columns for people.
    case table
    /// The same with all columns.
    case wide
    /// One JSON object a line.
    case json
    /// A list of mappings.
    case yaml
    /// Only names, one a line, for other programs.
    case name
}
