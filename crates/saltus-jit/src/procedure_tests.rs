//! Machine code of procedures does what their interpreter does, bit for bit and trouble for trouble.

use std::sync::{Arc, Mutex};

use saltus_program::{BinaryFn, UnaryFn};
use saltus_runtime::native::procedure::{
    At, Binary, CallSite, Instruction, NativeProcedures, Op, Procedure, Progress, Stack, Transfer, Trouble, Unary,
};

use crate::machine_procedures::MachineProcedures;
use crate::model::CompileTime;
use crate::{Background, Jit, JitOptions, Work};

const FRAME: u32 = 12;
/// Ordinary numbers and those that operations treat in their own way.
const CONSTANTS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    0.5,
    -2.5,
    7.0,
    1e300,
    -1e300,
    9_007_199_254_740_992.0,
    1e-310,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];
const UNARY: [Unary; 24] = {
    use Unary::{Foreign, Function};
    [
        Function(UnaryFn::Negate),
        Function(UnaryFn::Not),
        Function(UnaryFn::Sin),
        Function(UnaryFn::Asin),
        Function(UnaryFn::Acos),
        Function(UnaryFn::Tanh),
        Function(UnaryFn::Exp),
        Function(UnaryFn::Log),
        Function(UnaryFn::Log10),
        Function(UnaryFn::Sqrt),
        Function(UnaryFn::Abs),
        Function(UnaryFn::Sign),
        Function(UnaryFn::Floor),
        Function(UnaryFn::Ceil),
        Foreign(UnaryFn::Log),
        Foreign(UnaryFn::Sqrt),
        Foreign(UnaryFn::Asin),
        Foreign(UnaryFn::Atanh),
        Unary::ForeignAcosh,
        Unary::ForeignCbrt,
        Unary::NegateInteger,
        Unary::Sign,
        Unary::Floor,
        Function(UnaryFn::Atan),
    ]
};
const BINARY: [Binary; 27] = {
    use Binary::Function;
    [
        Function(BinaryFn::Add),
        Function(BinaryFn::Sub),
        Function(BinaryFn::Mul),
        Function(BinaryFn::Div),
        Function(BinaryFn::Pow),
        Function(BinaryFn::Atan2),
        Function(BinaryFn::IntDiv),
        Function(BinaryFn::Mod),
        Function(BinaryFn::Rem),
        Function(BinaryFn::Min),
        Function(BinaryFn::Max),
        Function(BinaryFn::Less),
        Function(BinaryFn::LessEqual),
        Function(BinaryFn::Greater),
        Function(BinaryFn::GreaterEqual),
        Function(BinaryFn::Equal),
        Function(BinaryFn::NotEqual),
        Function(BinaryFn::And),
        Function(BinaryFn::Or),
        Binary::AddInteger,
        Binary::SubInteger,
        Binary::MulInteger,
        Binary::DivInteger,
        Binary::ModInteger,
        Binary::RemInteger,
        Binary::ForeignPow,
        Binary::ForeignMod,
    ]
};

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }

    fn place(&mut self, room: u32) -> At {
        At::frame(self.below((FRAME - room) as usize) as u32)
    }

    fn operand(&mut self) -> At {
        if self.below(3) == 0 { At::constant(self.below(CONSTANTS.len()) as u32) } else { self.place(0) }
    }
}

fn instruction(op: Op, to: At, a: At, b: At, n: u32) -> Instruction {
    Instruction { op, to, a, b, n }
}

/// The same procedures twice.
struct Both<'p> {
    procedures: &'p [Procedure],
    native: MachineProcedures,
}

impl<'p> Both<'p> {
    fn new(procedures: &'p [Procedure]) -> Self {
        let mut native = MachineProcedures::new(&Jit::new(JitOptions::default()).unwrap(), CompileTime::default());
        assert_eq!(native.compile(procedures, &CONSTANTS, 0), Progress::Ready);
        Both { procedures, native }
    }

    /// Runs the first procedure in both ways; the frame that it leaves.
    fn run(&self, inputs: &[f64]) -> (Result<(), Trouble>, Vec<f64>) {
        let n = self.procedures[0].frame as usize;
        let bits = |stack: &[f64]| -> Vec<u64> {
            stack[..n].iter().map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() }).collect()
        };
        let mut frame = inputs.to_vec();
        frame.resize(n, 0.0);
        let mut stack = Stack::default();
        stack.scalars.clone_from(&frame);
        let interpreted = stack.run(self.procedures, &CONSTANTS, 0);
        let compiled = self.native.run(0, &CONSTANTS, &mut frame);
        assert_eq!(compiled, interpreted, "{:?} with {inputs:?}", self.procedures);
        assert_eq!(bits(&frame), bits(&stack.scalars), "{:?} with {inputs:?}", self.procedures);
        (compiled, frame)
    }
}

#[test]
fn every_operation_has_the_same_bits_and_the_same_troubles() {
    let (mut fine, mut troubled) = (0, 0);
    let unary = UNARY.map(Op::Unary);
    let binary = BINARY.map(Op::Binary);
    for op in unary.into_iter().chain(binary) {
        // with a place or a constant as second operand, which some operations treat in their own way
        for b in (0..CONSTANTS.len() as u32).map(At::constant).chain([At::frame(1)]) {
            let code = vec![instruction(op, At::frame(2), At::frame(0), b, 0)];
            let procedures = [Procedure { code, calls: vec![], frame: FRAME }];
            let both = Both::new(&procedures);
            let seconds = if b.is_constant() { &CONSTANTS[..1] } else { &CONSTANTS[..] };
            for (x, y) in CONSTANTS.iter().flat_map(|&x| seconds.iter().map(move |&y| (x, y))) {
                if both.run(&[x, y]).0.is_ok() { fine += 1 } else { troubled += 1 }
            }
        }
    }
    assert!(fine > 5000 && troubled > 500, "{fine} and {troubled}");
}

#[test]
fn random_code_runs_alike() {
    let mut random = Random(88_172_645_463_325_252);
    for _ in 0..300 {
        let n = 30;
        let mut code: Vec<Instruction> = Vec::new();
        for position in 0..n {
            let (to, a, b) = (random.place(0), random.operand(), random.operand());
            code.push(match random.below(9) {
                0 => instruction([Op::Add, Op::Sub, Op::Mul][random.below(3)], to, a, b, 0),
                1 => instruction(Op::Move, to, a, b, 0),
                2 => instruction(Op::Copy, random.place(3), random.place(3), b, 3),
                3 => instruction(Op::Unary(UNARY[random.below(UNARY.len())]), to, a, b, 0),
                4 | 5 => instruction(Op::Binary(BINARY[random.below(BINARY.len())]), to, a, b, 0),
                6 => instruction(Op::Load, random.place(2), random.place(2), a, 2),
                7 => instruction(Op::Store, random.place(2), random.place(2), a, 2),
                _ => {
                    let target = (position + 1 + random.below(n - position)) as u32;
                    instruction([Op::JumpIf, Op::JumpUnless][random.below(2)], to, a, b, target)
                }
            });
        }
        let inputs: Vec<f64> = (0..FRAME).map(|_| CONSTANTS[random.below(CONSTANTS.len())]).collect();
        let _ = Both::new(&[Procedure { code, calls: vec![], frame: FRAME }]).run(&inputs);
    }
}

/// Newton's method for a root, called for each of 20 numbers.
#[test]
fn loops_subscripts_and_calls_run_alike() {
    let [f, c] = [At::frame, At::constant];
    let no = At::NOWHERE;
    // [0] x, [1] y, [2] …: y := 1; repeat y := (y + x/y)/2 until |y·y - x| is small
    let root = Procedure {
        code: vec![
            instruction(Op::Move, f(1), c(2), no, 0),
            instruction(Op::Binary(Binary::Function(BinaryFn::Div)), f(2), f(0), f(1), 0),
            instruction(Op::Add, f(2), f(2), f(1), 0),
            instruction(Op::Mul, f(1), f(2), c(6), 0),
            instruction(Op::Mul, f(2), f(1), f(1), 0),
            instruction(Op::Sub, f(2), f(2), f(0), 0),
            instruction(Op::Unary(Unary::Function(UnaryFn::Abs)), f(2), f(2), no, 0),
            instruction(Op::Binary(Binary::Function(BinaryFn::Less)), f(2), f(2), f(3), 0),
            instruction(Op::JumpIf, no, f(2), no, 10),
            instruction(Op::Again, no, no, no, 1),
        ],
        calls: vec![],
        frame: 4,
    };
    // [0..20] numbers, [20..40] their roots, [40] index, [41] offset, [42] number, [43] root, [44] tolerance
    let call = CallSite {
        procedure: 1,
        arguments: vec![Transfer { here: f(42), there: 0, n: 1 }, Transfer { here: f(44), there: 3, n: 1 }],
        results: vec![Transfer { here: f(43), there: 1, n: 1 }],
    };
    let all = Procedure {
        code: vec![
            instruction(Op::Move, f(40), c(2), no, 0),
            instruction(Op::Subscript, f(41), f(40), f(1), 20),
            instruction(Op::Load, f(42), f(0), f(41), 1),
            instruction(Op::Call, no, no, no, 0),
            instruction(Op::Store, f(20), f(43), f(41), 1),
            instruction(Op::Binary(Binary::AddInteger), f(40), f(40), c(2), 0),
            instruction(Op::Again, no, no, no, 1),
        ],
        calls: vec![call],
        frame: 45,
    };
    let mut inputs: Vec<f64> = (1..=20).map(|k| f64::from(k * k)).collect();
    inputs.resize(44, 0.0);
    inputs.push(1e-9);
    let procedures = [all, root];
    let both = Both::new(&procedures);
    let (ended, frame) = both.run(&inputs);
    assert_eq!(ended, Err(Trouble::Failure), "it ends with the subscript 21");
    assert!((frame[25] - 6.0).abs() < 1e-9, "the root of 36 is {}", frame[25]);
    // A root that is never found uses up the work that may be done.
    inputs[0] = -2.0;
    assert_eq!(both.run(&inputs).0, Err(Trouble::Unclear));
}

#[test]
fn procedures_that_call_themselves_or_leave_their_frame_are_not_compiled() {
    let compile = |procedures: &[Procedure]| {
        MachineProcedures::new(&Jit::new(JitOptions::default()).unwrap(), CompileTime::default())
            .compile(procedures, &CONSTANTS, 0)
            == Progress::Ready
    };
    let calling = |k: usize| Procedure {
        code: vec![instruction(Op::Call, At::NOWHERE, At::NOWHERE, At::NOWHERE, 0)],
        calls: vec![CallSite { procedure: k, arguments: vec![], results: vec![] }],
        frame: 1,
    };
    assert!(!compile(&[calling(0)]) && !compile(&[calling(1), calling(0)]) && !compile(&[calling(7)]));
    let outside = instruction(Op::Move, At::frame(1), At::frame(0), At::NOWHERE, 0);
    assert!(!compile(&[Procedure { code: vec![outside], calls: vec![], frame: 1 }]));
    assert!(compile(&[Procedure { code: vec![outside], calls: vec![], frame: 2 }]));
}

/// Keeps work until the test runs it.
#[derive(Default)]
struct Queue(Mutex<Vec<Work>>);

impl Background for Queue {
    fn run(&self, work: Work) -> Result<(), Work> {
        self.0.lock().unwrap().push(work);
        Ok(())
    }
}

impl Queue {
    fn run_all(&self) -> usize {
        let all = std::mem::take(&mut *self.0.lock().unwrap());
        all.into_iter().map(|work| work()).count()
    }
}

/// Procedures that double, of which each but the first calls the one before it.
fn doubling(n: usize) -> Vec<Procedure> {
    let double = instruction(Op::Add, At::frame(0), At::frame(0), At::frame(0), 0);
    let call = instruction(Op::Call, At::NOWHERE, At::NOWHERE, At::NOWHERE, 0);
    let value = Transfer { here: At::frame(0), there: 0, n: 1 };
    let calling = |k: usize| CallSite { procedure: k - 1, arguments: vec![value], results: vec![value] };
    let first = Procedure { code: vec![double], calls: vec![], frame: 1 };
    let others = (1..n).map(|k| Procedure { code: vec![call, double], calls: vec![calling(k)], frame: 1 });
    std::iter::once(first).chain(others).collect()
}

#[test]
fn procedures_compiled_beside_the_run_call_those_that_were_compiled_before() {
    let queue = Arc::new(Queue::default());
    let jit = Jit::new(JitOptions::default()).unwrap().with_background(queue.clone());
    let mut native = MachineProcedures::new(&jit, CompileTime::default());
    let all = doubling(5);
    let run = |native: &MachineProcedures, k: usize| {
        let mut stack = vec![3.0];
        native.run(k, &CONSTANTS, &mut stack).map(|()| stack[0])
    };
    assert_eq!(native.compile(&all[..2], &CONSTANTS, 1), Progress::NotYet);
    assert_eq!(run(&native, 1), Err(Trouble::Unclear));
    // These wait for the next batch.
    assert_eq!(native.compile(&all, &CONSTANTS, 0), Progress::NotYet);
    assert_eq!(native.compile(&all, &CONSTANTS, 3), Progress::NotYet);
    assert_eq!(queue.run_all(), 1);
    assert_eq!(native.progress(&all, &CONSTANTS, 1), Progress::Ready);
    assert_eq!(run(&native, 1), Ok(12.0));
    assert_eq!(native.progress(&all, &CONSTANTS, 0), Progress::NotYet);
    assert_eq!(queue.run_all(), 1);
    assert_eq!(native.progress(&all, &CONSTANTS, 3), Progress::Ready);
    assert_eq!(native.progress(&all, &CONSTANTS, 0), Progress::Ready);
    assert_eq!([0, 1, 3].map(|k| run(&native, k)), [Ok(6.0), Ok(12.0), Ok(48.0)]);
    // A procedure that cannot be compiled is known to be so once others have been.
    assert_eq!(native.compile(&all, &CONSTANTS, 7), Progress::NotYet);
    assert_eq!(queue.run_all(), 1);
    assert_eq!(native.progress(&all, &CONSTANTS, 7), Progress::Impossible);
    // Work that is lost leaves what was asked for interpreted.
    assert_eq!(native.compile(&all, &CONSTANTS, 4), Progress::NotYet);
    queue.0.lock().unwrap().clear();
    assert_eq!(native.progress(&all, &CONSTANTS, 4), Progress::Impossible);
    assert_eq!(run(&native, 3), Ok(48.0));
}

#[test]
fn procedures_of_a_model_that_is_gone_are_compiled_without_harm() {
    let queue = Arc::new(Queue::default());
    let jit = Jit::new(JitOptions::default()).unwrap().with_background(queue.clone());
    let mut native = MachineProcedures::new(&jit, CompileTime::default());
    let all = doubling(2);
    assert_eq!(native.compile(&all, &CONSTANTS, 0), Progress::NotYet);
    queue.run_all();
    assert_eq!(native.progress(&all, &CONSTANTS, 0), Progress::Ready);
    // The next pages refer to those that are gone.
    assert_eq!(native.compile(&all, &CONSTANTS, 1), Progress::NotYet);
    drop(native);
    assert_eq!(queue.run_all(), 1);
}
