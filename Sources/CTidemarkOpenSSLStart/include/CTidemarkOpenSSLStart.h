// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program that is linked with this target keeps OpenSSL until its last instruction.
//
// OpenSSL frees its own state when a program begins to exit. Event loops still run at that moment, and crash.
// There is nothing to call: it happens before `main`, because OpenSSL heeds it only before its first use.
