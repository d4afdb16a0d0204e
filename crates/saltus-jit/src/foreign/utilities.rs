//! The functions that foreign code may call: messages, errors, memory for strings (specification section 12.9.6).
//!
//! ```text
//! if (x < 0) ModelicaFormatError("x is %g, must not be negative", x);      the call fails with that message
//! ```
//!
//! A library finds them by name among the symbols of the program, so this exists where the program exports them: on Linux on
//! processors with the x86-64 instruction set. Elsewhere a library that needs them cannot be loaded, and says so.
//!
//! An error does not return to the foreign function: [`enter`] notes where the stack was, and [`leave`] goes back there. What
//! lies in between are frames of foreign code and of a trampoline, which have nothing to clean up.

use std::arch::naked_asm;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};

use super::Said;
use super::trampoline::Trampoline;

#[derive(Default)]
struct State {
    /// The stack of the call that is being made; 0 if there is none.
    stack: u64,
    error: Option<String>,
    said: Vec<Said>,
    /// Strings that foreign code has asked for, until the next call.
    strings: Vec<Vec<u8>>,
}

/// Messages of one call that are kept.
const MOST_SAID: usize = 1_000;
/// The longest string that foreign code gets, in bytes.
const MOST_BYTES: usize = 1 << 30;

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// Calls a foreign function through its trampoline; what it complained about.
///
/// # Safety
/// As for the trampoline itself.
pub unsafe fn call(
    trampoline: Trampoline,
    words: *const u64,
    result: *mut u64,
    function: *const u8,
) -> Result<(), String> {
    let before = STATE.with_borrow_mut(|state| {
        state.strings.clear();
        state.error = None;
        state.stack
    });
    // SAFETY: the caller promises what the trampoline needs.
    let has_failed = unsafe { enter(trampoline, words, result, function) } != 0;
    let error = STATE.with_borrow_mut(|state| {
        state.stack = before;
        state.error.take()
    });
    if has_failed { Err(error.unwrap_or_else(|| "an error without a message".to_owned())) } else { Ok(()) }
}

/// What foreign code has said since the last time.
pub fn take_said() -> Vec<Said> {
    STATE.with_borrow_mut(|state| std::mem::take(&mut state.said))
}

/// trampoline, words, result, function ⇒ 0, or 1 after [`leave`]
#[unsafe(naked)]
unsafe extern "C" fn enter(_: Trampoline, _: *const u64, _: *mut u64, _: *const u8) -> u32 {
    naked_asm!(
        // All registers that a function must preserve, and 8 bytes so that the stack is aligned.
        "push rbp",
        "push rbx",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "sub rsp, 8",
        "mov rbx, rdi",
        "mov rbp, rsi",
        "mov r12, rdx",
        "mov r13, rcx",
        "mov rdi, rsp",
        "call {note}",
        "mov rdi, rbp",
        "mov rsi, r12",
        "mov rdx, r13",
        "call rbx",
        "xor eax, eax",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
        note = sym note_stack,
    )
}

extern "C" fn note_stack(stack: u64) {
    STATE.with_borrow_mut(|state| state.stack = stack);
}

/// Returns from [`enter`] with 1.
#[unsafe(naked)]
unsafe extern "C" fn leave(stack: u64) -> ! {
    naked_asm!(
        "mov rsp, rdi",
        "mov eax, 1",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

fn say(said: Said) {
    STATE.with_borrow_mut(|state| {
        if state.said.len() < MOST_SAID {
            state.said.push(said);
        }
    });
}

fn fail(text: String) -> ! {
    let stack = STATE.with_borrow_mut(|state| {
        state.error = Some(text);
        state.stack
    });
    if stack == 0 {
        // There is no call to return from, as in a thread that the library has started.
        std::process::abort();
    }
    // SAFETY: `enter` has noted this position of the stack, and is still waiting there.
    unsafe { leave(stack) }
}

fn allocated(n: usize) -> *mut c_char {
    if n > MOST_BYTES {
        return std::ptr::null_mut();
    }
    STATE.with_borrow_mut(|state| {
        state.strings.push(vec![0; n + 1]);
        state.strings.last_mut().map_or(std::ptr::null_mut(), |s| s.as_mut_ptr().cast())
    })
}

/// # Safety
/// A string that ends with a zero byte, or null.
unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller promises it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// A list of arguments as C has it on this kind of machine.
#[repr(C)]
struct Arguments {
    /// Where the next integer is among the saved registers, in bytes; up to 48.
    integers: u32,
    /// Where the next floating-point number is; up to 176.
    reals: u32,
    /// Arguments that had no register.
    rest: *const u64,
    registers: *const u8,
}

impl Arguments {
    unsafe fn integer(&mut self) -> u64 {
        if self.integers < 48 {
            let offset = self.integers as usize;
            self.integers += 8;
            // SAFETY: within the saved registers.
            return unsafe { self.registers.add(offset).cast::<u64>().read() };
        }
        unsafe { self.next() }
    }

    unsafe fn real(&mut self) -> f64 {
        if self.reals < 176 {
            let offset = self.reals as usize;
            self.reals += 16;
            // SAFETY: within the saved registers.
            return unsafe { self.registers.add(offset).cast::<f64>().read() };
        }
        f64::from_bits(unsafe { self.next() })
    }

    unsafe fn next(&mut self) -> u64 {
        // SAFETY: the caller has passed as many arguments as the format asks for.
        let word = unsafe { self.rest.read() };
        self.rest = self.rest.wrapping_add(1);
        word
    }
}

/// The text of a format of `printf` with its arguments.
///
/// # Safety
/// The arguments are those that the format asks for.
unsafe fn formatted(format: *const c_char, arguments: &mut Arguments) -> String {
    let format = unsafe { text(format) };
    let mut result = String::new();
    let mut rest = format.as_str();
    while let Some(at) = rest.find('%') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(end) = rest.find(|c: char| c.is_ascii_alphabetic() && !"hlLqjzt".contains(c) || c == '%') else {
            break;
        };
        let conversion = rest.as_bytes()[end] as char;
        let is_long = rest[..end].contains(['l', 'q', 'j', 'z', 't']);
        let mut spec: String = rest[..end].chars().filter(|c| !c.is_ascii_alphabetic()).collect();
        rest = &rest[end + 1..];
        while spec.contains('*') {
            let width = unsafe { arguments.integer() } as i32;
            spec = spec.replacen('*', &width.to_string(), 1);
        }
        let piece = match conversion {
            '%' => Some("%".to_owned()),
            'd' | 'i' => {
                let word = unsafe { arguments.integer() };
                saltus_eval::format_integer(if is_long { word as i64 } else { (word as i32).into() }, &(spec + "d"))
            }
            'u' | 'x' | 'X' | 'o' => {
                let word = unsafe { arguments.integer() };
                let word = if is_long { word } else { (word as u32).into() };
                saltus_eval::format_integer(word as i64, &format!("{spec}{conversion}"))
            }
            'c' => char::from_u32(unsafe { arguments.integer() } as u8 as u32).map(String::from),
            's' => Some(padded(unsafe { text(arguments.integer() as usize as *const c_char) }, &spec)),
            'p' => Some(format!("{:#x}", unsafe { arguments.integer() })),
            _ => saltus_eval::format_number(unsafe { arguments.real() }, &format!("{spec}{conversion}")),
        };
        result.push_str(&piece.unwrap_or_else(|| "?".to_owned()));
    }
    result + rest
}

/// A string with the width and the most characters that its conversion asks for.
fn padded(text: String, spec: &str) -> String {
    let (width, most) = spec.split_once('.').unwrap_or((spec, ""));
    let text: String = most.parse().map_or(text.clone(), |most: usize| text.chars().take(most).collect());
    let width: i64 = width.trim_start_matches(['-', '0', ' ', '+']).parse().unwrap_or(0);
    let blanks = " ".repeat(usize::try_from(width).unwrap_or(0).saturating_sub(text.chars().count()).min(10_000));
    if spec.starts_with('-') { text + &blanks } else { blanks + &text }
}

/// Defines the three forms in which something is said.
macro_rules! saying {
    ($plain:ident, $format:ident, $list:ident, $formatted:ident, $say:expr) => {
        /// # Safety
        /// As the specification says.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $plain(message: *const c_char) {
            ($say)(unsafe { text(message) })
        }

        /// # Safety
        /// As the specification says.
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $list(format: *const c_char, arguments: *mut std::ffi::c_void) {
            // SAFETY: a `va_list` is the address of such a structure.
            ($say)(unsafe { formatted(format, &mut *arguments.cast::<Arguments>()) })
        }

        unsafe extern "C" fn $formatted(registers: *const u8, rest: *const u64) {
            // The first register holds the format.
            let mut arguments = Arguments { integers: 8, reals: 48, rest, registers };
            // SAFETY: the registers were saved by the caller below.
            let format = unsafe { registers.cast::<*const c_char>().read() };
            ($say)(unsafe { formatted(format, &mut arguments) })
        }

        /// With any number of arguments: saves the registers in which they may be, in the order of a `va_list`.
        ///
        /// # Safety
        /// As the specification says.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        #[allow(non_snake_case)]
        pub unsafe extern "C" fn $format() {
            naked_asm!(
                "lea rax, [rsp + 8]",
                "sub rsp, 184",
                "mov [rsp], rdi",
                "mov [rsp + 8], rsi",
                "mov [rsp + 16], rdx",
                "mov [rsp + 24], rcx",
                "mov [rsp + 32], r8",
                "mov [rsp + 40], r9",
                "movups [rsp + 48], xmm0",
                "movups [rsp + 64], xmm1",
                "movups [rsp + 80], xmm2",
                "movups [rsp + 96], xmm3",
                "movups [rsp + 112], xmm4",
                "movups [rsp + 128], xmm5",
                "movups [rsp + 144], xmm6",
                "movups [rsp + 160], xmm7",
                "mov rdi, rsp",
                "mov rsi, rax",
                "call {formatted}",
                "add rsp, 184",
                "ret",
                formatted = sym $formatted,
            )
        }
    };
}

saying!(ModelicaMessage, ModelicaFormatMessage, ModelicaVFormatMessage, formatted_message, |t| say(Said::Message(t)));
saying!(ModelicaWarning, ModelicaFormatWarning, ModelicaVFormatWarning, formatted_warning, |t| say(Said::Warning(t)));
saying!(ModelicaError, ModelicaFormatError, ModelicaVFormatError, formatted_error, |t| fail(t));

/// Memory for a string of `n` bytes; an error if there is none.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn ModelicaAllocateString(n: usize) -> *mut c_char {
    let memory = allocated(n);
    if memory.is_null() {
        fail(format!("there is no memory for a String of {n} bytes"));
    }
    memory
}

/// Memory for a string of `n` bytes, or null.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn ModelicaAllocateStringWithErrorReturn(n: usize) -> *mut c_char {
    allocated(n)
}

/// # Safety
/// A string that ends with a zero byte.
unsafe fn duplicate(string: *const c_char, memory: impl FnOnce(usize) -> *mut c_char) -> *mut c_char {
    // SAFETY: the caller promises it.
    let bytes = unsafe { CStr::from_ptr(string) }.to_bytes_with_nul();
    let copy = memory(bytes.len() - 1);
    if !copy.is_null() {
        // SAFETY: there is room for the string and the zero byte.
        unsafe { copy.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }
    copy
}

/// # Safety
/// As the specification says.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn ModelicaDuplicateString(string: *const c_char) -> *mut c_char {
    unsafe { duplicate(string, |n| ModelicaAllocateString(n)) }
}

/// # Safety
/// As the specification says.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub unsafe extern "C" fn ModelicaDuplicateStringWithErrorReturn(string: *const c_char) -> *mut c_char {
    unsafe { duplicate(string, allocated) }
}

/// Their addresses, so that the linker keeps them.
pub fn addresses() -> [usize; 13] {
    [
        ModelicaMessage as *const () as usize,
        ModelicaFormatMessage as *const () as usize,
        ModelicaVFormatMessage as *const () as usize,
        ModelicaWarning as *const () as usize,
        ModelicaFormatWarning as *const () as usize,
        ModelicaVFormatWarning as *const () as usize,
        ModelicaError as *const () as usize,
        ModelicaFormatError as *const () as usize,
        ModelicaVFormatError as *const () as usize,
        ModelicaAllocateString as *const () as usize,
        ModelicaAllocateStringWithErrorReturn as *const () as usize,
        ModelicaDuplicateString as *const () as usize,
        ModelicaDuplicateStringWithErrorReturn as *const () as usize,
    ]
}
