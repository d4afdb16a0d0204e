//! Calls of built-in functions and operators: argument names and counts, types, sizes, result types.
//!
//! `atan2(y = 1, x = x)` becomes `atan2(1.0, x) : Real`, `sin(v) : Real[3]` stays one element-wise call, `size(A, 1)` a
//! literal where it is known. Arguments come out complete and in the order of the specification's signatures, with
//! defaults filled in where the specification gives them (see the functions of the submodules).
//!
//! Specification: "Built-in Operators and Functions", "Built-in Array Operators and Functions", chapters 16 and 17.

mod arguments;
mod array_functions;
mod clocks;
mod elementary;
mod events;
mod sizes;
mod special;
mod text;

use saltus_base::Span;
use saltus_flat::{BaseType, Builtin, EnumId, Expr, ExprKind, Type};

use crate::diagnostics::calls;
use crate::operators::fail;
use crate::{Context, Place, convert};

/// A call with its positional and named arguments. Component arguments of `cardinality`, `Connections.*`, `transition` and
/// the like may have any type.
pub fn builtin(
    cx: &mut dyn Context,
    function: Builtin,
    arguments: Vec<Expr>,
    named: Vec<(&str, Expr)>,
    span: Span,
) -> Expr {
    if cx.in_function() && !is_allowed_in_functions(function) {
        return fail(cx, calls::not_in_function(function.name(), span), span);
    }
    if arguments.iter().any(Expr::is_error) || named.iter().any(|(_, e)| e.is_error()) {
        return Expr::error(span);
    }
    use Builtin as B;
    let call = arguments::Call { function, positional: arguments, named, span };
    let result = match function {
        B::Sin
        | B::Cos
        | B::Tan
        | B::Asin
        | B::Acos
        | B::Atan
        | B::Sinh
        | B::Cosh
        | B::Tanh
        | B::Exp
        | B::Log
        | B::Log10
        | B::Sqrt
        | B::Ceil
        | B::Floor => elementary::real_function(cx, call),
        B::Atan2 => elementary::atan2(cx, call),
        B::Abs | B::Sign => elementary::abs_or_sign(cx, call),
        B::Div | B::Mod | B::Rem => elementary::integer_division(cx, call),
        B::Integer => elementary::integer(cx, call),
        B::Min | B::Max => elementary::min_or_max(cx, call),
        B::ToInteger => elementary::ordinal(cx, call),
        B::EnumFromInteger => elementary::enumeration(cx, call),
        B::ToString => text::string(cx, call),

        B::Der => special::der(cx, call),
        B::Delay => special::delay(cx, call),
        B::Homotopy => special::homotopy(cx, call),
        B::SemiLinear => special::semi_linear(cx, call),
        B::InStream | B::ActualStream => special::stream(cx, call),
        B::SpatialDistribution => special::spatial_distribution(cx, call),
        B::GetInstanceName => special::without_arguments(cx, call, Type::STRING),
        B::Pure => special::same_type(cx, call, "f"),
        B::Cardinality => special::of_components(cx, call, &["c"], Type::INTEGER),
        B::ConnectionsRoot => special::of_components(cx, call, &["R"], Type::UNIT),
        B::ConnectionsBranch => special::of_components(cx, call, &["a", "b"], Type::UNIT),
        B::ConnectionsIsRoot | B::ConnectionsRooted | B::Rooted => {
            special::of_components(cx, call, &["R"], Type::BOOLEAN)
        }
        B::ConnectionsPotentialRoot => special::potential_root(cx, call),
        B::ConnectionsUniqueRoot => special::unique_root(cx, call),

        B::Initial | B::Terminal => special::without_arguments(cx, call, Type::BOOLEAN),
        B::NoEvent => special::same_type(cx, call, "expr"),
        B::Smooth => events::smooth(cx, call),
        B::Sample => events::sample(cx, call),
        B::Pre | B::Edge | B::Change => events::pre_edge_change(cx, call),
        B::Reinit => events::reinit(cx, call),
        B::Assert => events::assert(cx, call),
        B::Terminate => events::terminate(cx, call),

        B::Ndims => sizes::ndims(cx, call),
        B::Size => sizes::size(cx, call),
        B::Zeros | B::Ones => sizes::zeros_or_ones(cx, call),
        B::Fill => sizes::fill(cx, call),
        B::Identity => sizes::identity(cx, call),
        B::Linspace => sizes::linspace(cx, call),
        B::Promote => sizes::promote(cx, call),
        B::Cat => sizes::cat(cx, call),

        B::Scalar => array_functions::scalar(cx, call),
        B::Vector => array_functions::vector(cx, call),
        B::Matrix => array_functions::matrix(cx, call),
        B::Diagonal => array_functions::diagonal(cx, call),
        B::Sum | B::Product => array_functions::sum_or_product(cx, call),
        B::Transpose => array_functions::transpose(cx, call),
        B::OuterProduct => array_functions::outer_product(cx, call),
        B::Symmetric => array_functions::symmetric(cx, call),
        B::Cross => array_functions::cross(cx, call),
        B::Skew => array_functions::skew(cx, call),

        B::Clock => clocks::clock(cx, call),
        B::Previous | B::Hold | B::NoClock => clocks::of_clocked_variable(cx, call),
        B::SubSample | B::SuperSample => clocks::sub_or_super_sample(cx, call),
        B::ShiftSample | B::BackSample => clocks::shift_or_back_sample(cx, call),
        B::FirstTick => clocks::first_tick_or_interval(cx, call, Type::BOOLEAN),
        B::Interval => clocks::first_tick_or_interval(cx, call, Type::REAL),
        B::Transition => clocks::transition(cx, call),
        B::InitialState => special::of_components(cx, call, &["state"], Type::UNIT),
        B::Excursion => special::of_components(cx, call, &["state"], Type::REAL),
        B::ActiveState => special::of_components(cx, call, &["state"], Type::BOOLEAN),
        B::TicksInState => special::without_arguments(cx, call, Type::INTEGER),
        B::TimeInState => special::without_arguments(cx, call, Type::REAL),
    };
    result.unwrap_or_else(|| Expr::error(span))
}

/// Operators that look at the course of time or at the model's structure have no meaning in a function.
fn is_allowed_in_functions(function: Builtin) -> bool {
    use Builtin as B;
    !matches!(
        function,
        B::Der
            | B::Delay
            | B::Cardinality
            | B::InStream
            | B::ActualStream
            | B::SpatialDistribution
            | B::Initial
            | B::Terminal
            | B::Sample
            | B::Pre
            | B::Edge
            | B::Change
            | B::Reinit
            | B::Clock
            | B::Previous
            | B::Hold
            | B::SubSample
            | B::SuperSample
            | B::ShiftSample
            | B::BackSample
            | B::NoClock
            | B::FirstTick
            | B::Interval
            | B::Transition
            | B::InitialState
            | B::ActiveState
            | B::TicksInState
            | B::TimeInState
            | B::Excursion
            | B::ConnectionsRoot
            | B::ConnectionsPotentialRoot
            | B::ConnectionsBranch
            | B::ConnectionsIsRoot
            | B::ConnectionsRooted
            | B::ConnectionsUniqueRoot
            | B::Rooted
    )
}

/// Types of all results of a call whose first result has the type `first`: `spatialDistribution` has two.
pub fn result_types(function: Builtin, _arguments: &[Expr], first: &Type) -> Vec<Type> {
    match function {
        Builtin::SpatialDistribution => vec![first.clone(), first.clone()],
        _ if first.base == BaseType::Unit => Vec::new(),
        _ => vec![first.clone()],
    }
}

/// `E(i)`: the enumeration value with the ordinal `i`, element by element. The flat call has `i` as its only argument; the
/// enumeration is in its type.
pub fn enumeration_from_integer(cx: &mut dyn Context, id: EnumId, value: Expr, span: Span) -> Expr {
    if value.is_error() {
        return Expr::error(span);
    }
    let ty = cx.enum_type(id);
    let wanted = Type::array(BaseType::Integer, value.ty.dims.clone());
    let place = Place::Argument { function: &ty.name, position: 1, name: "i" };
    let value = convert(cx, value, &wanted, place);
    if value.is_error() {
        return Expr::error(span);
    }
    if let Some(ordinal) = crate::literal_integer(&value) {
        return match u32::try_from(ordinal) {
            Ok(n) if n >= 1 && n as usize <= ty.literals.len() => {
                Expr::new(ExprKind::EnumLiteral(id, n), Type::scalar(BaseType::Enumeration(id)), span)
            }
            _ => {
                let diagnostic = calls::ordinal_out_of_range(&ty.name, ordinal, ty.literals.len(), value.span);
                fail(cx, diagnostic, span)
            }
        };
    }
    let result = Type::array(BaseType::Enumeration(id), value.ty.dims.clone());
    Expr::builtin(Builtin::EnumFromInteger, vec![value], result, span)
}
