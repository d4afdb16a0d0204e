//! The data of a picture; see the crate's front page for its JSON form.

use serde::Serialize;

use crate::geometry::{Extent, Matrix, Point, UNIT_EXTENT, centre};

/// Red, green, blue from 0 to 255.
pub type Color = [u8; 3];

/// Which of the two pictures of a class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    Icon,
    Diagram,
}

/// A picture of a class.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scene {
    pub class: String,
    pub layer: Layer,
    pub system: CoordinateSystem,
    /// Own and inherited ones in the order of drawing.
    pub primitives: Vec<Primitive>,
    /// The components in a diagram, in the order of drawing; of an icon its connectors.
    pub components: Vec<Component>,
    pub connections: Vec<Connection>,
    /// What was left out, and why.
    pub notes: Vec<Note>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CoordinateSystem {
    pub extent: Extent,
    pub preserve_aspect_ratio: bool,
    pub initial_scale: f64,
    pub grid: Point,
}

impl Default for CoordinateSystem {
    fn default() -> Self {
        Self { extent: UNIT_EXTENT, preserve_aspect_ratio: true, initial_scale: 0.1, grid: [2.0, 2.0] }
    }
}

/// A part of a file, in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Place {
    pub file: String,
    pub start: u32,
    pub end: u32,
}

/// Something that could not be drawn.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Note {
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Place>,
}

impl Scene {
    /// Does a simulation change the picture?
    pub fn is_dynamic(&self) -> bool {
        let moves = |all: &[Primitive]| all.iter().any(|primitive| !primitive.dynamic.is_empty());
        let mut open: Vec<&Component> = self.components.iter().collect();
        while let Some(component) = open.pop() {
            if moves(&component.picture.primitives) {
                return true;
            }
            open.extend(&component.picture.ports);
        }
        moves(&self.primitives)
    }
}

/// One `Line`, `Polygon`, … of an annotation.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Primitive {
    pub shape: Shape,
    pub visible: bool,
    /// From the coordinates of the shape to those of the layer: `origin`, `rotation`, and the map of an `extends`.
    pub matrix: Matrix,
    /// Of the class's own text, not of inherited ones and of components.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Place>,
    /// What `DynamicSelect` says about attributes during a simulation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dynamic: Vec<Dynamic>,
}

/// The second argument of `DynamicSelect`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Dynamic {
    /// Such as `fillColor`.
    pub attribute: String,
    /// As written; its names are those of the class that the primitive belongs to.
    pub expression: String,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Shape {
    Line(Line),
    Polygon {
        points: Vec<Point>,
        smooth: bool,
        #[serde(flatten)]
        fill: Fill,
    },
    #[serde(rename_all = "camelCase")]
    Rectangle {
        extent: Extent,
        radius: f64,
        border_pattern: BorderPattern,
        #[serde(flatten)]
        fill: Fill,
    },
    #[serde(rename_all = "camelCase")]
    Ellipse {
        extent: Extent,
        start_angle: f64,
        end_angle: f64,
        closure: Closure,
        #[serde(flatten)]
        fill: Fill,
    },
    Text(Text),
    /// The source is a `data:` address.
    Bitmap {
        extent: Extent,
        source: String,
    },
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    pub points: Vec<Point>,
    pub color: Color,
    pub pattern: LinePattern,
    pub thickness: f64,
    pub arrow: [Arrow; 2],
    pub arrow_size: f64,
    pub smooth: bool,
}

/// Border and interior of a shape.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fill {
    pub line_color: Color,
    pub fill_color: Color,
    pub pattern: LinePattern,
    pub fill_pattern: FillPattern,
    pub line_thickness: f64,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Text {
    pub extent: Extent,
    /// With `%name` and the like replaced.
    pub text: String,
    pub color: Color,
    /// In points; 0 fits the text into the extent.
    pub font_size: f64,
    pub font_name: String,
    pub bold: bool,
    pub italic: bool,
    pub underline: bool,
    pub alignment: Alignment,
}

/// Enumerations of annotations: their literals, by name.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident: $first:ident $(, $literal:ident)*) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub enum $name { #[default] $first $(, $literal)* }

        impl Word for $name {
            fn of(word: &str) -> Option<Self> {
                match word {
                    stringify!($first) => Some($name::$first),
                    $(stringify!($literal) => Some($name::$literal),)*
                    _ => None,
                }
            }
        }
    };
}

/// An enumeration that annotations use.
pub trait Word: Sized + Default {
    fn of(word: &str) -> Option<Self>;
}

words!(LinePattern: Solid, None, Dash, Dot, DashDot, DashDotDot);
words!(FillPattern: None, Solid, Horizontal, Vertical, Cross, Forward, Backward, CrossDiag, HorizontalCylinder, VerticalCylinder, Sphere);
words!(BorderPattern: None, Raised, Sunken, Engraved);
words!(Smooth: None, Bezier);
words!(Closure: Automatic, None, Chord, Radial);
words!(Arrow: None, Open, Filled, Half);
words!(TextStyle: Bold, Italic, UnderLine);
words!(Alignment: Center, Left, Right, Automatic);

/// A component in a diagram, or a connector in an icon.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    pub name: String,
    /// The qualified name of its class; as written if that is not found.
    pub class: String,
    pub description: String,
    /// The class that declares it, if that is another one than the one that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
    pub is_connector: bool,
    /// Such as `in` of a block, `out`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<&'static str>,
    pub is_protected: bool,
    pub is_replaceable: bool,
    /// Sizes as written: `["3", "n"]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub dimensions: Vec<String>,
    /// The condition as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// Whether the condition holds; nothing where that depends on more than is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_present: Option<bool>,
    /// Nothing where the declaration has no `Placement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<Placement>,
    /// From the coordinates of the picture to those of the layer around it.
    pub matrix: Matrix,
    /// The smallest extent around it in the coordinates of the layer around it.
    pub bounds: Extent,
    pub picture: Picture,
    /// The declaration of the component.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Place>,
}

impl Component {
    /// Where a connection ends: the centre of a connector, in the coordinates of the layer around it.
    pub fn anchor(&self) -> Point {
        centre(self.bounds)
    }

    /// Is it drawn?
    pub fn is_visible(&self) -> bool {
        self.placement.as_ref().is_some_and(|placement| placement.visible)
    }
}

/// Where a component is shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Placement {
    pub visible: bool,
    pub origin: Point,
    pub extent: Extent,
    pub rotation: f64,
}

impl Placement {
    pub fn matrix(&self, icon: Extent) -> Matrix {
        let turned = Matrix::translation(self.origin).after(&Matrix::rotation(self.rotation));
        turned.after(&Matrix::mapping(icon, self.extent))
    }
}

/// How a component looks, in its own coordinates.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct Picture {
    pub system: CoordinateSystem,
    pub primitives: Vec<Primitive>,
    /// Connectors; their matrices and bounds are in the coordinates of this picture.
    pub ports: Vec<Component>,
}

/// A `connect`, or a transition between states.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Connection {
    pub kind: ConnectionKind,
    /// As written: `r.p`, `bus.speed`, `plug[2].pin`.
    pub from: String,
    /// Empty for an initial state.
    pub to: String,
    /// Nothing where the equation has no `Line`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<Primitive>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<Primitive>,
    /// The class whose text has it, if that is another one than the one that is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inherited_from: Option<String>,
    /// The equation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Place>,
}

impl Connection {
    /// The points of the line in the coordinates of the layer.
    pub fn points(&self) -> Vec<Point> {
        match &self.line {
            Some(Primitive { shape: Shape::Line(line), matrix, .. }) => {
                line.points.iter().map(|&p| matrix.apply(p)).collect()
            }
            _ => Vec::new(),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ConnectionKind {
    Connect,
    Transition,
    InitialState,
}
