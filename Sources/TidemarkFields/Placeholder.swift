// SPDX-License-Identifier: Apache-2.0

/// TEMP until the fields job pushes.
package struct FieldMap: Sendable, Equatable {
    package init() {}
}
