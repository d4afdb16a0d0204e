//! Images of annotations as `data:` addresses, so that a picture needs nothing but itself.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::attributes::Attributes;
use crate::notes;
use crate::painter::Painter;

/// Larger images are left out.
const LARGEST: usize = 4_000_000;

/// The address of the image of a `Bitmap`; `None` with a note if it cannot be shown.
pub fn source<'a>(painter: &mut Painter<'a>, given: &mut Attributes<'a, 'a>) -> Option<String> {
    let embedded: String = given.string(painter, "imageSource").split_whitespace().collect();
    let name = given.string(painter, "fileName");
    let image = match embedded.is_empty() {
        false => STANDARD.decode(embedded.as_bytes()).map_err(|_| "it is not Base64".to_owned()),
        true => read(painter, given, &name),
    };
    let address = image.and_then(|bytes| address(&bytes));
    match address {
        Ok(address) => Some(address),
        Err(reason) => {
            painter.note(notes::unreadable_image(&name, &reason), given.span);
            None
        }
    }
}

fn read<'a>(painter: &mut Painter<'a>, given: &Attributes<'a, 'a>, name: &str) -> Result<Vec<u8>, String> {
    let class = painter.scopes.class_of_scope(given.scope);
    let path = painter.library().resolve_uri_from(class, name).ok_or("its package is not found")?;
    painter.library().read_resource(&path).map_err(|error| error.to_string())
}

fn address(bytes: &[u8]) -> Result<String, String> {
    if bytes.len() > LARGEST {
        return Err("it is larger than 4 MB".into());
    }
    let kind = media_type(bytes).ok_or("its format is none of PNG, JPEG, GIF, BMP and SVG")?;
    Ok(format!("data:{kind};base64,{}", STANDARD.encode(bytes)))
}

/// The format of an image by its first bytes.
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(400)];
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'B', b'M', ..] => Some("image/bmp"),
        _ => {
            let text = String::from_utf8_lossy(head);
            let is_svg = text.trim_start_matches('\u{feff}').trim_start().starts_with('<') && text.contains("<svg");
            is_svg.then_some("image/svg+xml")
        }
    }
}
