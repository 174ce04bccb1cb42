"""The standard networks of the table: random weights, calibrated so that every product's result has unit variance."""
# In the order of the table. Pictures are 1 x 3 x side x side.
NAMES = ("mobilenet_v1", "mobilenet_v2", "mobilenet_v3_large", "mobilenet_v4_small", "efficientnet_lite0",
         "shufflenet_v2", "squeezenet1_1", "resnet18", "resnet50", "repvgg_a0", "googlenet", "inception_v3",
         "densenet121", "vgg16", "vit_tiny", "convnext_atto", "mobilevit_xs", "ultraface", "yolo_tiny", "yolox_nano",
         "unet", "super_resolution", "style_transfer", "bert_small", "lstm", "speech_conv1d")
