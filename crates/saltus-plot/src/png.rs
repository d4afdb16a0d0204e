//! The PNG format: signature, header, compressed rows, end; each part with its check sum.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// A picture of 8-bit red, green and blue.
pub fn encode(width: usize, height: usize, rgb: &[u8]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(rgb.len() + height);
    for row in rgb.chunks(3 * width.max(1)) {
        // Each byte as its difference to the pixel on its left: areas of one colour become zeros.
        rows.push(1);
        rows.extend(row.iter().enumerate().map(|(i, v)| v.wrapping_sub(if i < 3 { 0 } else { row[i - 3] })));
    }
    let mut header = Vec::new();
    header.extend((width as u32).to_be_bytes());
    header.extend((height as u32).to_be_bytes());
    header.extend([8, 2, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(&mut png, b"IHDR", &header);
    chunk(&mut png, b"IDAT", &compress_to_vec_zlib(&rows, 6));
    chunk(&mut png, b"IEND", &[]);
    png
}

fn chunk(png: &mut Vec<u8>, name: &[u8; 4], data: &[u8]) {
    png.extend((data.len() as u32).to_be_bytes());
    let start = png.len();
    png.extend(name);
    png.extend(data);
    let sum = crc(&png[start..]);
    png.extend(sum.to_be_bytes());
}

/// The cyclic redundancy check of the PNG specification, polynomial 0xedb88320.
fn crc(data: &[u8]) -> u32 {
    let mut table = [0u32; 256];
    for (n, entry) in table.iter_mut().enumerate() {
        *entry = (0..8).fold(n as u32, |c, _| if c & 1 == 1 { 0xedb8_8320 ^ (c >> 1) } else { c >> 1 });
    }
    !data.iter().fold(!0u32, |c, byte| table[((c ^ u32::from(*byte)) & 255) as usize] ^ (c >> 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_sum_is_that_of_the_specification() {
        // The end chunk of every PNG file carries ae 42 60 82.
        assert_eq!(crc(b"IEND"), 0xae42_6082);
    }
}
