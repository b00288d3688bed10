// SPDX-License-Identifier: Apache-2.0
// libedit's variadic functions, which Swift cannot call, with the arguments that a console gives. No logic here.
#pragma once
#include <histedit.h>
#include <locale.h>
#include <stdio.h>

/// Returns the text of the prompt. It stays valid until the next call.
typedef char *(*tidemark_edit_prompt)(EditLine *);
/// Handles a key. It returns one of the CC_ values.
typedef unsigned char (*tidemark_edit_key)(EditLine *, int);

/// Characters are those of the user's locale, or UTF-8 where that has only ASCII.
static inline void tidemark_edit_use_locale(void) {
    const char *name = setlocale(LC_CTYPE, "");
    if (name == NULL || (name[0] == 'C' && name[1] == 0)) setlocale(LC_CTYPE, "C.UTF-8");
}

/// On the terminal of this process. NULL if there is no memory.
static inline EditLine *tidemark_edit_create(
    const char *program, tidemark_edit_prompt prompt, tidemark_edit_key complete, tidemark_edit_key abandon) {
    EditLine *line = el_init(program, stdin, stdout, stderr);
    if (line == NULL) return NULL;
    el_set(line, EL_PROMPT, prompt);
    // Who ends the process restores the terminal.
    el_set(line, EL_SIGNAL, 0);
    el_set(line, EL_EDITOR, "emacs");
    el_set(line, EL_ADDFN, "tidemark-complete", "Complete a word", complete);
    el_set(line, EL_ADDFN, "tidemark-abandon", "Abandon the line", abandon);
    el_set(line, EL_BIND, "^I", "tidemark-complete", NULL);
    el_set(line, EL_BIND, "^R", "em-inc-search-prev", NULL);
    el_set(line, EL_BIND, "^C", "tidemark-abandon", NULL);
    // While a line is edited, Ctrl-C is a key like others. Signals are blocked then, and would not end a read.
    el_set(line, EL_SETTY, "-d", "-isig", NULL);
    return line;
}

/// What the callbacks find in the line that they are called with.
static inline void tidemark_edit_set_owner(EditLine *line, void *owner) { el_set(line, EL_CLIENTDATA, owner); }

static inline void *tidemark_edit_owner(EditLine *line) {
    void *owner = NULL;
    el_get(line, EL_CLIENTDATA, &owner);
    return owner;
}

static inline void tidemark_edit_use_history(EditLine *line, History *lines, int size) {
    HistEvent event;
    history(lines, &event, H_SETSIZE, size);
    history(lines, &event, H_SETUNIQUE, 1);
    el_set(line, EL_HIST, history, lines);
}

static inline void tidemark_edit_add_history(History *lines, const char *text) {
    HistEvent event;
    history(lines, &event, H_ENTER, text);
}

/// Between the prompts, through the stream that libedit writes to.
static inline void tidemark_edit_print(const char *text) {
    fputs(text, stdout);
    fflush(stdout);
}
