// SPDX-License-Identifier: Apache-2.0

// Code written for CloudKit uses Date, Data and URL without importing Foundation, because `import CloudKit` brings it.
@_exported public import Foundation
