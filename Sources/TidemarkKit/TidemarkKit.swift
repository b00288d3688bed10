// SPDX-License-Identifier: Apache-2.0

// Code written for CloudKit imports nothing else and uses Date, Data and URL: `import CloudKit` brings Foundation.
@_exported public import Foundation
