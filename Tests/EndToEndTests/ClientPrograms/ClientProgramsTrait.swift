// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

extension Trait where Self == ConditionTrait {
    /// These start up to 22 processes at once, beside all that other tests start, which Foundation's `Process` did not always
    /// survive: `make client-programs` runs them alone.
    static var clientPrograms: Self {
        .enabled(
            if: ProcessInfo.processInfo.environment["TIDEMARK_CLIENT_PROGRAMS"] != nil,
            "make client-programs runs these, with nothing beside them")
    }
}
